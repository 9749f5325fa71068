"""Waiting for a table that a topic does not have yet, with a gateway that answers what it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lakestream.cli.client.table_wait import wait_for_table
from lakestream.cli.failures import CommandFailed
from lakestream.cli.service import Gateway
from lakestream.settings.address import Address


def status(table: str | None, *, lag: int = 0, no_pipeline: str | None = None) -> dict[str, Any]:
    topic = {"name": "My.Topic", "table": {"table": table, "lag_records": lag}}
    return {"pipeline": None if no_pipeline else "p", "no_pipeline": no_pipeline, "topics": [topic]}


@contextmanager
def gateway(*answers: Any) -> Iterator[Gateway]:
    """Answers GET with one after another, and then with the last one again."""
    left = list(answers)

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(left.pop(0) if len(left) > 1 else left[0])

        def do_POST(self) -> None:
            self._answer({})

        def _answer(self, content: Any) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Gateway(address=Address("127.0.0.1", server.server_port))
        finally:
            server.shutdown()
            thread.join()


def test_the_table_of_a_topic_that_has_none_is_waited_for_until_it_has_the_records(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = status("streams.my_topic", lag=1)
    with gateway(status(None), status(None), made, status("streams.my_topic")) as address:
        assert wait_for_table(address, "MY_topic")
    assert "My.Topic has no table yet; waiting for it" in capsys.readouterr().err


@pytest.mark.parametrize(("table", "asked"), [(None, "other"), ("streams.elsewhere", "my_topic")])
def test_a_table_that_no_topic_waits_for_is_not_waited_for(table: str | None, asked: str) -> None:
    with gateway(status(table)) as address:
        assert not wait_for_table(address, asked)


def test_where_no_pipeline_can_come_the_reason_is_said_at_once() -> None:
    with gateway(status(None, no_pipeline="no Java was found")) as address, pytest.raises(CommandFailed, match="Java"):
        wait_for_table(address, "my_topic")
