"""Bytes of inline segments, read from the metadata store. Readers of one turn of the event loop share one query.

A segment that the store does not have any more has moved: the index knows its new place.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from lakestream.model.errors import LakestreamError, ObjectMissing
from lakestream.model.place import InlineData, SegmentId
from lakestream.world.tasks import Tasks

SEGMENTS_AT_ONCE = 100
"""Most segments of one query: some megabytes."""


class InlineSource(Protocol):
    """The part of the metadata store that readers need."""

    async def read(self, segments: Sequence[SegmentId]) -> dict[SegmentId, InlineData]: ...


class InlineReader:
    def __init__(self, store: InlineSource, tasks: Tasks) -> None:
        self._store = store
        self._tasks = tasks
        self._asked: dict[SegmentId, asyncio.Future[InlineData]] = {}
        self._reading = False

    async def read(self, segment: SegmentId) -> InlineData:
        """The whole segment. Raises ObjectMissing if it has moved."""
        waiting = self._asked.get(segment)
        if waiting is None:
            waiting = self._asked[segment] = asyncio.get_running_loop().create_future()
            if not self._reading:
                self._reading = True
                self._tasks.spawn(self._read_asked(), name="inline-read")
        return await asyncio.shield(waiting)

    async def _read_asked(self) -> None:
        await asyncio.sleep(0)  # let other readers of this turn join
        asked, self._asked, self._reading = self._asked, {}, False
        segments = list(asked)
        for first in range(0, len(segments), SEGMENTS_AT_ONCE):
            some = segments[first : first + SEGMENTS_AT_ONCE]
            try:
                found = await self._store.read(some)
            except LakestreamError as error:
                for segment in some:
                    _fail(asked[segment], error)
                continue
            for segment in some:
                if (data := found.get(segment)) is None:
                    _fail(asked[segment], ObjectMissing(f"the metadata store does not hold {segment} any more"))
                else:
                    asked[segment].set_result(data)


def _fail(waiting: "asyncio.Future[InlineData]", error: LakestreamError) -> None:
    waiting.set_exception(error)
    waiting.exception()  # mark it as retrieved, even if every reader has gone
