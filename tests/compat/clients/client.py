"""What every client library is asked to do, and the values that go in and come out.

    client.write(topic, partition, codec, records) -> offsets     (acks=all, idempotent)
    client.read(topic, partition, offset, count)   -> [Read]      (assigned partition, no group)

A client answers with the library's own decoding of what the broker sent; nothing is repaired
on the way. A broker's refusal is raised as Refused with Kafka's error code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
ANSWER_S_MAX = 15  # no single call to a healthy broker takes this long


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    offset: int
    record: Record


class Refused(Exception):
    """The broker answered with an error code."""

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(f"error {code}: {message}")
        self.code = code


class Client(Protocol):
    name: str
    codecs: Sequence[str]
    null_header_values: bool

    def create_topic(self, topic: str, partitions: int, configs: dict[str, str]) -> None: ...
    def delete_topic(self, topic: str) -> None: ...
    def add_partitions(self, topic: str, total: int) -> None: ...
    def partition_count(self, topic: str) -> int:
        """0 where the topic does not exist."""
        ...

    def configs(self, topic: str) -> dict[str, str]: ...
    def set_config(self, topic: str, name: str, value: str) -> None: ...
    def delete_records(self, topic: str, partition: int, before_offset: int) -> None: ...

    def write(self, topic: str, partition: int, codec: str, records: Sequence[Record]) -> list[int]:
        """Offsets in the order of the records."""
        ...

    def read(self, topic: str, partition: int, offset: int, count: int) -> list[Read]:
        """Seeks to the offset; waits until `count` records have come or ANSWER_S_MAX is over."""
        ...

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Beginning and end offset."""
        ...

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int:
        """Offset of the first record that is not older; the end offset where there is none."""
        ...

    def close(self) -> None: ...
