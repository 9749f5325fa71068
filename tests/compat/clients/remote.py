"""A client library of another language: a small driver process that reads one JSON request a line and answers with one.

    {"verb": "read", "topic": "t", ...}  ->  {"answer": [...]} | {"refused": 36, "message": "..."} | {"failed": "..."}

Bytes travel as base64. One process serves all checks, because starting a JVM costs a second.
"""

import base64
import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .client import ANSWER_S_MAX, CODECS, Read, Record, Refused

START_S_MAX = 30


class DriverFailed(Exception):
    """The driver program itself broke or fell silent."""


class Remote:
    codecs = CODECS

    def __init__(self, name: str, command: Sequence[str], *, cwd: Path, null_header_values: bool) -> None:
        self.name = name
        self.null_header_values = null_header_values
        self._process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._answers: queue.Queue[bytes] = queue.Queue()
        self._one_at_a_time = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, verb: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        with self._one_at_a_time:
            self._process.stdin.write(json.dumps({"verb": verb, **arguments}).encode() + b"\n")
            self._process.stdin.flush()
            try:
                line = self._answers.get(timeout=START_S_MAX + ANSWER_S_MAX)
            except queue.Empty:
                raise DriverFailed(f"the {self.name} driver did not answer {verb}") from None
        if not line:
            raise DriverFailed(f"the {self.name} driver ended with {self._process.wait(5)} on {verb}")
        said = json.loads(line)
        if "refused" in said:
            raise Refused(said["refused"], said["message"])
        if "failed" in said:
            raise DriverFailed(f"{self.name} {verb}: {said['failed']}")
        return said["answer"]

    def create_topic(self, topic: str, partitions: int, configs: dict[str, str]) -> None:
        self.ask("create_topic", topic=topic, partitions=partitions, configs=configs)

    def delete_topic(self, topic: str) -> None:
        self.ask("delete_topic", topic=topic)

    def add_partitions(self, topic: str, total: int) -> None:
        self.ask("add_partitions", topic=topic, total=total)

    def partition_count(self, topic: str) -> int:
        return int(self.ask("partition_count", topic=topic))

    def configs(self, topic: str) -> dict[str, str]:
        return dict(self.ask("configs", topic=topic))

    def set_config(self, topic: str, name: str, value: str) -> None:
        self.ask("set_config", topic=topic, name=name, value=value)

    def delete_records(self, topic: str, partition: int, before_offset: int) -> None:
        self.ask("delete_records", topic=topic, partition=partition, before_offset=before_offset)

    def write(self, topic: str, partition: int, codec: str, records: Sequence[Record]) -> list[int]:
        rows = [_row(record) for record in records]
        return list(self.ask("write", topic=topic, partition=partition, codec=codec, records=rows))

    def read(self, topic: str, partition: int, offset: int, count: int) -> list[Read]:
        rows = self.ask(
            "read", topic=topic, partition=partition, offset=offset, count=count, wait_ms=ANSWER_S_MAX * 1000
        )
        return [Read(offset=row["offset"], record=_record(row)) for row in rows]

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        beginning, end = self.ask("bounds", topic=topic, partition=partition)
        return beginning, end

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int:
        return int(self.ask("offset_at", topic=topic, partition=partition, timestamp_ms=timestamp_ms))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()  # the drivers end at the end of their input
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)

    def kill(self) -> None:
        """At once, so that it can tell nobody."""
        self._process.kill()
        self._process.wait(10)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put(b"")


def _row(record: Record) -> dict[str, Any]:
    return {
        "key": _text(record.key),
        "value": _text(record.value),
        "headers": [[name, _text(value)] for name, value in record.headers],
        "timestamp_ms": record.timestamp_ms,
    }


def _record(row: dict[str, Any]) -> Record:
    return Record(
        key=_bytes(row["key"]),
        value=_bytes(row["value"]),
        headers=tuple((name, _bytes(value)) for name, value in row["headers"]),
        timestamp_ms=row["timestamp_ms"],
    )


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
