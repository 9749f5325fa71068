"""Kafka Connect, distributed: its compacted topics, its own group protocol, and a file copied through a topic."""

import uuid
from pathlib import Path

import pytest

from benchmarks.peers.kafka import Unavailable

from .clients import connect
from .clients.members import until

LINES = [f"line {number}" for number in range(1_000)]


def test_a_file_goes_through_a_topic_also_when_the_worker_dies_in_between(bootstrap: str, tmp_path: Path) -> None:
    try:
        connect.fetch()
    except Unavailable as missing:
        pytest.skip(str(missing))
    name = f"connect-{uuid.uuid4().hex[:8]}"
    source, sink = tmp_path / "source.txt", tmp_path / "sink.txt"
    source.write_text("\n".join(LINES) + "\n")
    read = {"connector.class": "FileStreamSource", "tasks.max": "1", "file": str(source), "topic": f"{name}-lines"}
    written = {"connector.class": "FileStreamSink", "tasks.max": "1", "file": str(sink), "topics": f"{name}-lines"}

    def copied() -> list[str]:
        return sink.read_text().splitlines() if sink.exists() else []

    with connect.worker(bootstrap, name, tmp_path) as worker:
        worker.put_connector(f"{name}-source", read)
        worker.put_connector(f"{name}-sink", written)
        until(lambda: len(copied()) == len(LINES), lambda: len(copied()))
        assert copied() == LINES

    with source.open("a") as more:
        more.write("the last line\n")
    with connect.worker(bootstrap, name, tmp_path):  # another worker: it finds connectors and offsets in their topics
        until(lambda: "the last line" in copied(), lambda: len(copied()))
    assert set(copied()) == {*LINES, "the last line"}
