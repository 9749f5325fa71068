"""A remote store's answers, and what they become: a small server says whatever a test wants to hear."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lakestream.model.errors import LakestreamError, ObjectExists, StorageFull, StoreUnavailable
from lakestream.world.objects.remote import RemoteObjects


class Answers(ThreadingHTTPServer):
    """Answers every request with `status` and remembers what was asked."""

    status = 200
    body = b""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []

    def store(self) -> RemoteObjects:
        options = {"endpoint": f"http://127.0.0.1:{self.server_port}", "region": "x"}
        return RemoteObjects("s3://bucket", options | {"access_key_id": "a", "secret_access_key": "b"})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Answers

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(f"PUT {self.path} if-none-match={self.headers.get('If-None-Match')}")
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Answers]:
    with Answers() as answers:
        thread = threading.Thread(target=answers.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield answers
        answers.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (503, b"<Error><Code>SlowDown</Code></Error>", StoreUnavailable),
        (500, b"", StoreUnavailable),
        (403, b"<Error><Code>AccessDenied</Code></Error>", StoreUnavailable),
        (403, b"<Error><Code>QuotaExceeded</Code></Error>", StorageFull),
        (507, b"", StorageFull),
        (412, b"", ObjectExists),
    ],
)
def test_an_answer_becomes_the_error_that_says_what_to_do(
    server: Answers, status: int, body: bytes, error: type[LakestreamError]
) -> None:
    server.status, server.body = status, body
    with pytest.raises(error):
        asyncio.run(server.store().put("wal/50/507.lsg", [b"x"]))


def test_a_key_that_looks_like_an_error_is_not_taken_for_one(server: Answers) -> None:
    server.status = 500
    with pytest.raises(StoreUnavailable):
        asyncio.run(server.store().put("wal/StorageFul/01507.lsg", [b"x"]))


def test_a_put_is_tried_once_and_only_creates(server: Answers) -> None:
    server.status = 503
    with pytest.raises(StoreUnavailable):
        asyncio.run(server.store().put("wal/a", [b"x"]))
    assert server.asked == ["PUT /bucket/wal/a if-none-match=*"]
