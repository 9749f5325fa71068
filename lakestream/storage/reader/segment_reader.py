"""Bytes of a WAL segment: from the cache, from the metadata store, or by one GET that concurrent readers share.

A GET is rounded outward to whole blocks, so that the next reader, and readers of neighbouring partitions in the
segment, find them in the cache. Where a GET costs no round trip, blocks are small: neighbours may read a shared block
twice. An inline segment is small and is read whole.
"""

import asyncio
from typing import Protocol

from lakestream.model.errors import SegmentLost
from lakestream.model.place import SegmentId, Span, is_inline
from lakestream.model.transaction import is_marker, marker_of
from lakestream.storage.cache.segment_cache import CachedExtent, SegmentCache
from lakestream.storage.reader.inline_reader import InlineReader
from lakestream.storage.records.markers import marker_batch
from lakestream.storage.wal.segment import segment_key
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks

REMOTE_BLOCK_BYTES = 1024 * 1024
LOCAL_BLOCK_BYTES = 64 * 1024


class ReadMetrics(Protocol):
    def segment_read(self, *, bytes: int) -> None: ...


class SegmentReader:
    def __init__(
        self, objects: ObjectStore, inline: InlineReader, cache: SegmentCache, tasks: Tasks, metrics: ReadMetrics
    ) -> None:
        self._objects = objects
        self._inline = inline
        self._cache = cache
        self._tasks = tasks
        self._metrics = metrics
        self._block_bytes = REMOTE_BLOCK_BYTES if objects.is_remote else LOCAL_BLOCK_BYTES
        self._getting: dict[tuple[SegmentId, int, int], asyncio.Task[CachedExtent]] = {}

    def cached(self, span: Span) -> list[memoryview] | None:
        """The span's bytes, as consecutive pieces, if they are cached. Those of a marker are made."""
        if is_marker(span.segment):
            return [memoryview(marker_batch(marker_of(span.segment)))]
        return self._cache.get(span.segment, span.at, span.length)

    async def read(self, span: Span) -> list[memoryview]:
        """The span's bytes, cached or fetched. Raises ObjectMissing if the object is gone, SegmentLost if it is cut
        short."""
        if (cached := self.cached(span)) is not None:
            return cached
        extent = await self._get(span)
        if not extent.covers(span.at, span.length):
            raise SegmentLost(
                f"segment {span.segment} ends at byte {extent.end}, before byte {span.at + span.length}, where its "
                "records end: restore the object"
            )
        return extent.slice(span.at, span.length)

    async def _get(self, span: Span) -> CachedExtent:
        if is_inline(span.segment):
            extent = CachedExtent(0, [await self._inline.read(span.segment)])
            self._cache.put(span.segment, extent, fetched=True)
            return extent
        start = span.at - span.at % self._block_bytes
        end = -(-(span.at + span.length) // self._block_bytes) * self._block_bytes
        key = (span.segment, start, end)
        getting = self._getting.get(key)
        if getting is None:
            getting = self._tasks.spawn(
                self._fetch(span.segment, start, end - start), name=f"get-{span.segment}", awaited=True
            )
            self._getting[key] = getting
            getting.add_done_callback(lambda _: self._getting.pop(key, None))
        return await asyncio.shield(getting)

    async def _fetch(self, segment: SegmentId, start: int, length: int) -> CachedExtent:
        data = await self._objects.get_range(segment_key(segment), start, length)
        self._metrics.segment_read(bytes=len(data))
        extent = CachedExtent(start, [data])
        self._cache.put(segment, extent, fetched=True)
        return extent
