"""Checksums of a file's blocks, between the last row group and Parquet's footer, where other readers do not look.

    row groups | checksums | footer
    checksums = sum of each block (4 bytes each) | blocks (4) | block bytes (4) | sum of sums and footer (4) | "LSB1"

A record that is served from a table has no producer's checksum left to show a flipped bit. Parquet's own checksums
leave out page headers and footer, where a flipped bit can crash the process that parses it. So nothing is parsed before
its blocks are checked: reads are rounded outward to whole blocks. CRC-32C, little-endian.
"""

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

import numpy as np
from crc32c import crc32c
from numpy.typing import NDArray

from lakestream.storage.records.header import Bytes
from lakestream.storage.tablefile.format.sink import Sink

BLOCK_BYTES = 64 * 1024
MAGIC = b"LSB1"
_ENDING = Struct("<III4s")
ENDING_BYTES = _ENDING.size
PARQUET_ENDING_BYTES = 8
"""The length of Parquet's footer, and its magic."""


class BadBlocks(ValueError):
    """The bytes are not those that were written."""


class BlockSums(NamedTuple):
    """The sums of a file's blocks, and the number of bytes that they cover."""

    sums: NDArray[np.uint32]
    covered_bytes: int

    def around(self, at: int, length: int) -> tuple[int, int]:
        """The whole blocks that hold a stretch: position and length."""
        start = at - at % BLOCK_BYTES
        end = min(-(-(at + length) // BLOCK_BYTES) * BLOCK_BYTES, self.covered_bytes)
        return start, end - start

    def check(self, at: int, data: Bytes) -> None:
        """Compare whole blocks with their sums. Raises BadBlocks."""
        view = memoryview(data)
        first = at // BLOCK_BYTES
        for index, start in enumerate(range(0, len(view), BLOCK_BYTES), first):
            if crc32c(view[start : start + BLOCK_BYTES]) != self.sums[index]:
                raise BadBlocks(f"the bytes from {index * BLOCK_BYTES} on do not match their checksum")


def bytes_of_sums(file_bytes: int) -> int:
    """An upper bound of the size of the sums of a file of this size."""
    return -(-file_bytes // BLOCK_BYTES) * 4 + ENDING_BYTES


def read_sums(tail: Bytes, footer_bytes: int, file_bytes: int) -> BlockSums:
    """Read the sums in front of the footer, and check the footer against its own sum. Raises BadBlocks."""
    view = memoryview(tail)
    before = view[: len(view) - footer_bytes]
    if len(before) < ENDING_BYTES:
        raise BadBlocks("there is no room for checksums")
    count, block_bytes, stored, magic = _ENDING.unpack(before[-ENDING_BYTES:])
    covered = file_bytes - footer_bytes - ENDING_BYTES - 4 * count
    if magic != MAGIC or block_bytes != BLOCK_BYTES:
        raise BadBlocks("it has no checksums that this version of Lakestream knows")
    if covered < 0 or -(-covered // BLOCK_BYTES) != count or len(before) < ENDING_BYTES + 4 * count:
        raise BadBlocks("its size does not fit its checksums")
    sums = before[len(before) - ENDING_BYTES - 4 * count : len(before) - ENDING_BYTES]
    if _sum_of(sums, view[len(view) - footer_bytes :]) != stored:
        raise BadBlocks("its footer does not match its checksum")
    return BlockSums(np.frombuffer(sums, "<u4").copy(), covered)  # a view would keep the whole tail in memory


def _sum_of(sums: Bytes, footer: Bytes) -> int:
    total: int = crc32c(footer, crc32c(sums))
    return total


class SummingSink:
    """Passes bytes on to a sink, computes the sums of their blocks, and writes the sums in front of the footer."""

    closed = False

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._held: list[bytes] | None = None
        self._held_bytes = 0
        self._sums: list[int] = []
        self._open_sum = 0
        self.bytes = 0
        """Bytes passed on so far."""

    def write(self, data: bytes, /) -> int:
        if self._held is None:
            self._pass_on(data)
        else:
            self._held.append(data)
            self._held_bytes += len(data)
        return len(data)

    def hold(self) -> None:
        """Hold back all bytes from here on. They include the footer, whose start is known only once it has ended."""
        self._held = []

    def finish(self) -> None:
        held = b"".join(self._held or ())
        footer_bytes = int.from_bytes(held[-PARQUET_ENDING_BYTES:-4], "little") + PARQUET_ENDING_BYTES
        self._pass_on(held[:-footer_bytes])
        footer = held[-footer_bytes:]
        open_sums = [self._open_sum] if self.bytes % BLOCK_BYTES else []
        sums = np.array(self._sums + open_sums, "<u4").tobytes()
        ending = _ENDING.pack(len(sums) // 4, BLOCK_BYTES, _sum_of(sums, footer), MAGIC)
        self._pass_on_unsummed((sums, ending, footer))

    def tell(self) -> int:
        return self.bytes + self._held_bytes

    def flush(self) -> None:
        self._sink.flush()

    def close(self) -> None:
        """Do nothing: the owner of the sink closes it."""

    def _pass_on(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            filled = self.bytes % BLOCK_BYTES
            piece = view[: BLOCK_BYTES - filled]
            self._open_sum = crc32c(piece, self._open_sum if filled else 0)
            self.bytes += len(piece)
            if self.bytes % BLOCK_BYTES == 0:
                self._sums.append(self._open_sum)
            view = view[len(piece) :]
        self._sink.write(data)

    def _pass_on_unsummed(self, parts: Sequence[bytes]) -> None:
        for part in parts:
            self._sink.write(part)
            self.bytes += len(part)
        self._held, self._held_bytes = None, 0
