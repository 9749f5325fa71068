"""Iovec: record batches as a list of buffers, handed from a cache to a socket without being joined.

A `records` field to be encoded is bytes, a memoryview of bytes, or an Iovec, whose parts are appended one by one.
"""

from collections.abc import Iterable

Buffer = bytes | bytearray | memoryview


class Iovec:
    """Consecutive buffers on the wire, and their total length in bytes."""

    __slots__ = ("byte_length", "parts")

    def __init__(self, parts: Iterable[Buffer] = ()) -> None:
        self.parts: list[Buffer] = []
        self.byte_length = 0
        for part in parts:
            self.append(part)

    def append(self, part: Buffer) -> None:
        # len() of a memoryview counts items, so only a view of single bytes gives its length in bytes.
        assert not isinstance(part, memoryview) or (part.itemsize == 1 and part.ndim == 1), "a view of bytes, please"
        self.parts.append(part)
        self.byte_length += len(part)

    def extend(self, other: "Iovec") -> None:
        self.parts.extend(other.parts)
        self.byte_length += other.byte_length

    def __len__(self) -> int:
        return self.byte_length

    def __bytes__(self) -> bytes:
        return b"".join(self.parts)


Records = Buffer | Iovec
"""A `records` field of a response."""
