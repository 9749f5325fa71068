"""The segment cache: stretches of WAL objects in memory, evicted least recently used first.

The broker puts its own flushes here when they are committed (the tail, which most consumers read), and puts the blocks
here that it had to GET for a reader, for readers of neighbouring partitions. Both are extents: a start position and
parts lying end to end.

A reader from far behind brings in a gigabyte that nobody reads again, and without protection it would evict the tail
before reaching it. So a fetched extent evicts other fetched extents, and takes no more than a share from the tail.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from lakestream.model.place import SegmentId
from lakestream.world.objects.store import Buffer

FETCHED_PARTS = 4
"""Fetched extents may take one part in so many from the tail, in addition to all the room that the tail leaves free."""


class CacheMetrics(Protocol):
    def cache_hit(self) -> None: ...

    def cache_miss(self) -> None: ...

    def cache_bytes(self, held: int) -> None: ...


class CachedExtent:
    """Consecutive bytes of one segment, as parts: whole batches if this broker wrote them, otherwise one block."""

    __slots__ = ("_positions", "end", "parts", "start")

    def __init__(self, start: int, parts: Sequence[Buffer]) -> None:
        self.start = start
        self.parts = [memoryview(part) for part in parts]
        self._positions: list[int] = []
        position = start
        for part in self.parts:
            self._positions.append(position)
            position += len(part)
        self.end = position

    def covers(self, at: int, length: int) -> bool:
        return self.start <= at and at + length <= self.end

    def slice(self, at: int, length: int) -> list[memoryview]:
        """The parts that hold [at, at + length), cut to it. No bytes are copied."""
        index = bisect_right(self._positions, at) - 1
        end = at + length
        cut: list[memoryview] = []
        while at < end:
            skip = at - self._positions[index]
            piece = self.parts[index][skip : skip + end - at]
            cut.append(piece)
            at += len(piece)
            index += 1
        return cut


class _Kind:
    """Extents from the same source (written or fetched), least recently used first."""

    __slots__ = ("bytes", "extents")

    def __init__(self) -> None:
        self.extents: OrderedDict[tuple[SegmentId, int], CachedExtent] = OrderedDict()
        self.bytes = 0


class SegmentCache:
    def __init__(self, bytes_max: int, metrics: CacheMetrics) -> None:
        self._bytes_max = bytes_max
        self._metrics = metrics
        self._by_segment: dict[SegmentId, list[tuple[CachedExtent, _Kind]]] = {}
        self._written = _Kind()
        self._fetched = _Kind()

    def get(self, segment: SegmentId, at: int, length: int) -> list[memoryview] | None:
        for extent, kind in self._by_segment.get(segment, ()):
            if extent.covers(at, length):
                kind.extents.move_to_end((segment, extent.start))
                self._metrics.cache_hit()
                return extent.slice(at, length)
        self._metrics.cache_miss()
        return None

    def put(self, segment: SegmentId, extent: CachedExtent, *, fetched: bool = False) -> None:
        key, kind = (segment, extent.start), self._fetched if fetched else self._written
        if (held := kind.extents.get(key)) is not None:
            if held.end >= extent.end:
                return
            self._drop(kind, key)
        self._by_segment.setdefault(segment, []).append((extent, kind))
        kind.extents[key] = extent
        kind.bytes += extent.end - extent.start
        while self._written.bytes + self._fetched.bytes > self._bytes_max:
            crowded = self._fetched.bytes > self._bytes_max // FETCHED_PARTS
            oldest = self._fetched if crowded else self._written
            self._drop(oldest, next(iter(oldest.extents)))
        self._metrics.cache_bytes(self._written.bytes + self._fetched.bytes)

    def _drop(self, kind: _Kind, key: tuple[SegmentId, int]) -> None:
        extent = kind.extents.pop(key)
        kind.bytes -= extent.end - extent.start
        extents = self._by_segment[key[0]]
        extents.remove((extent, kind))
        if not extents:
            del self._by_segment[key[0]]
