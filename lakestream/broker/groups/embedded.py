"""The subscriptions and assignments that consumers embed in the classic protocol (Kafka's ConsumerProtocol).

    subscription  version(2) topics[string] user_data(bytes), v1+ owned[topic, [partition]], v2+ generation(4), v3+ rack
    assignment    version(2) assigned[topic, [partition]] user_data(bytes)

Big-endian; array counts 4 bytes, string lengths 2, bytes lengths 4, -1 for null. Newer versions only append, so a
reader takes what it knows. Nothing here trusts a count: every read is checked against what is left.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakestream.model.errors import Corrupt

VERSION_MAX = 3
_INT16, _INT32 = struct.Struct(">h"), struct.Struct(">i")


class MalformedProtocol(Corrupt):
    """A consumer's embedded subscription or assignment has another form than Kafka's consumers write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    version: int
    topics: frozenset[str]
    owned: Mapping[str, frozenset[int]]
    generation: int
    rack: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedAssignment:
    partitions: Mapping[str, frozenset[int]]
    user_data: bytes


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def int16(self) -> int:
        return int(_INT16.unpack(self._take(2))[0])

    def int32(self) -> int:
        return int(_INT32.unpack(self._take(4))[0])

    def string(self) -> str | None:
        length = self.int16()
        try:
            return None if length < 0 else self._take(length).decode()
        except UnicodeDecodeError as error:
            raise MalformedProtocol("a name is not UTF-8") from error

    def name(self) -> str:
        return self.string() or ""

    def blob(self) -> bytes:
        length = self.int32()
        return b"" if length < 0 else self._take(length)

    def count(self, item_bytes_min: int) -> int:
        """An array's length. Raises MalformedProtocol if the remaining bytes cannot hold so many items."""
        count = self.int32()
        if count * item_bytes_min > len(self._data) - self._at:
            raise MalformedProtocol(f"an array of {count} does not fit in what is left")
        return max(count, 0)

    def partitions(self) -> dict[str, frozenset[int]]:
        found: dict[str, frozenset[int]] = {}
        for _ in range(self.count(6)):
            name = self.name()
            found[name] = frozenset(self.int32() for _ in range(self.count(4)))
        return found

    def _take(self, length: int) -> bytes:
        piece = self._data[self._at : self._at + length]
        if len(piece) != length:
            raise MalformedProtocol("it ends too early")
        self._at += length
        return piece


def embedded_version(metadata: bytes) -> int:
    """The version that the writer speaks, limited to the highest one that we know."""
    return max(0, min(_Reader(metadata).int16(), VERSION_MAX))


def read_subscription(metadata: bytes) -> Subscription:
    """Raises MalformedProtocol."""
    reader = _Reader(metadata)
    version = reader.int16()
    topics = frozenset(reader.name() for _ in range(reader.count(2)))
    reader.blob()
    return Subscription(
        version=max(0, min(version, VERSION_MAX)),
        topics=topics,
        owned=reader.partitions() if version >= 1 else {},
        generation=reader.int32() if version >= 2 else -1,
        rack=reader.string() if version >= 3 else None,
    )


def read_assignment(data: bytes) -> EmbeddedAssignment:
    """No bytes at all mean no partitions. Raises MalformedProtocol."""
    if not data:
        return EmbeddedAssignment(partitions={}, user_data=b"")
    reader = _Reader(data)
    reader.int16()
    return EmbeddedAssignment(partitions=reader.partitions(), user_data=reader.blob())


def write_assignment(version: int, partitions: Mapping[str, Iterable[int]]) -> bytes:
    parts = [_INT16.pack(version), _INT32.pack(len(partitions))]
    for topic in sorted(partitions):
        name, indexes = topic.encode(), sorted(partitions[topic])
        parts += [_INT16.pack(len(name)), name, _INT32.pack(len(indexes))]
        parts += [_INT32.pack(index) for index in indexes]
    parts.append(_INT32.pack(-1))
    return b"".join(parts)


def subscribed_topics(metadata: Sequence[bytes]) -> frozenset[str] | None:
    """The topics that these members subscribe to; None if one of the subscriptions is unreadable."""
    try:
        return frozenset(topic for one in metadata for topic in read_subscription(one).topics)
    except MalformedProtocol:
        return None
