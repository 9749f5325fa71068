"""Digests: the hashes of many records as four numbers, per chunk of offsets of a partition.

Two sides with equal digests hold the same records: the same number of them, with the same exclusive or and the same
sums of their hashes (summed by halves, which cannot overflow). A missing, doubled or changed record shows. Digests of
parts of a chunk add up, so each side may read in any pieces.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CHUNK_OFFSETS = 65_536
"""If digests differ, this many records are compared one by one."""
_LOW = np.int64(0xFFFF_FFFF)


class Chunk(NamedTuple):
    partition: int
    number: int

    @property
    def start(self) -> int:
        return self.number * CHUNK_OFFSETS

    @property
    def end(self) -> int:
        return self.start + CHUNK_OFFSETS


class Digest(NamedTuple):
    records: int = 0
    xor: int = 0
    low: int = 0
    high: int = 0

    def plus(self, other: "Digest") -> "Digest":
        return Digest(self.records + other.records, self.xor ^ other.xor, self.low + other.low, self.high + other.high)


Digests = dict[Chunk, Digest]


def add_hashes(digests: Digests, partition: int, offsets: NDArray[np.int64], hashes: NDArray[np.int64]) -> None:
    """`offsets` must rise."""
    for number, digest in _by_chunk(offsets, hashes):
        chunk = Chunk(partition, number)
        digests[chunk] = digests.get(chunk, Digest()).plus(digest)


def differing(one: Mapping[Chunk, Digest], other: Mapping[Chunk, Digest]) -> list[Chunk]:
    return sorted(chunk for chunk in one.keys() | other.keys() if one.get(chunk) != other.get(chunk))


def _by_chunk(offsets: NDArray[np.int64], hashes: NDArray[np.int64]) -> Iterator[tuple[int, Digest]]:
    if not len(offsets):
        return
    numbers, starts = np.unique(offsets // CHUNK_OFFSETS, return_index=True)
    counts = np.diff(np.append(starts, len(offsets)))
    xors = np.bitwise_xor.reduceat(hashes, starts)
    lows = np.add.reduceat(hashes & _LOW, starts)
    highs = np.add.reduceat((hashes >> 32) & _LOW, starts)
    columns = (numbers, counts, xors, lows, highs)
    for number, *digest in zip(*(column.tolist() for column in columns), strict=True):
        yield number, Digest(*digest)
