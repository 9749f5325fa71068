"""Reads the bytes of a task's spans: few GETs, several under way, in the order of use.

    spans -> blocks: neighbours in one segment are fetched together -> GETs -> bytes of each span
    consecutive small spans of a partition -> one piece, so that they are decoded by one call

Blocks stay in memory until their last span has been taken. Together they are not much more than the task.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from lakestream.model.errors import SegmentLost
from lakestream.model.place import SegmentId, Span
from lakestream.model.transaction import is_marker, marker_of
from lakestream.storage.records.markers import marker_batch
from lakestream.storage.wal.segment import segment_key
from lakestream.table.compaction.plan import TaskSpan
from lakestream.world.objects.store import Buffer

GETS_MAX = 8
GAP_BYTES_MAX = 256 * 1024
"""The largest gap of other partitions' bytes that is fetched along: cheaper than another request."""
BLOCK_BYTES_MAX = 32 * 1024 * 1024
PIECE_BYTES_MAX = 4 * 1024 * 1024
"""Small spans are joined up to this size."""


class Block(NamedTuple):
    segment: SegmentId
    at: int
    end: int


class Piece(NamedTuple):
    """Whole batches of one partition, one after the other."""

    number: int
    start: int
    """Records below this offset are skipped."""
    base_offset: int
    last_offset: int
    append_ms: int
    segments: tuple[SegmentId, ...]
    data: Buffer


def blocks_of(spans: Sequence[Span]) -> dict[Span, Block]:
    """The block that contains each span."""
    found: dict[Span, Block] = {}
    together: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.segment, span.at)):
        if together and not _is_near(together[0], together[-1], span):
            found |= _as_block(together)
            together = []
        together.append(span)
    return found | _as_block(together) if together else found


class SegmentObjects(Protocol):
    """The part of an object store that is needed to read spans."""

    async def get_range(self, key: str, at: int, length: int) -> Buffer: ...


class Blocks:
    """Blocks under way, in the order of use, as tasks of `group`."""

    def __init__(self, spans: Sequence[TaskSpan], objects: SegmentObjects, group: asyncio.TaskGroup) -> None:
        self._objects = objects
        self._places = asyncio.Semaphore(GETS_MAX)
        stored = [each.span for each in spans if not is_marker(each.span.segment)]
        self._block_of = blocks_of(stored)
        self._left = Counter(self._block_of[span] for span in stored)
        self._getting = {block: group.create_task(self._get(block)) for block in self._left}

    async def piece(self, together: Sequence[TaskSpan]) -> Piece:
        """The bytes of spans that `joinable` put together. Raises SegmentLost. A failed GET ends the group."""
        parts = [await self._take(each.span) for each in together]
        first, last = together[0], together[-1]
        return Piece(
            number=first.number,
            start=first.start,
            base_offset=first.span.base_offset,
            last_offset=last.span.last_offset,
            append_ms=first.span.append_ms,
            segments=tuple(each.span.segment for each in together),
            data=parts[0] if len(parts) == 1 else b"".join(parts),
        )

    async def _take(self, span: Span) -> memoryview:
        if is_marker(span.segment):
            return memoryview(marker_batch(marker_of(span.segment)))
        block = self._block_of[span]
        data = await self._getting[block]
        self._left[block] -= 1
        if not self._left[block]:
            del self._getting[block]
        found = memoryview(data)[span.at - block.at : span.at - block.at + span.length]
        if len(found) != span.length:
            raise SegmentLost(f"segment {span.segment} is cut short at byte {span.at}: restore the object")
        return found

    async def _get(self, block: Block) -> Buffer:
        async with self._places:
            return await self._objects.get_range(segment_key(block.segment), block.at, block.end - block.at)


def joinable(spans: Sequence[TaskSpan]) -> Iterator[list[TaskSpan]]:
    """Groups of spans whose batches follow one another as if they had been written together."""
    together: list[TaskSpan] = []
    size = 0
    for each in spans:
        if together and not (_continues(together[-1], each) and size + each.span.length <= PIECE_BYTES_MAX):
            yield together
            together, size = [], 0
        together.append(each)
        size += each.span.length
    if together:
        yield together


def _continues(before: TaskSpan, after: TaskSpan) -> bool:
    return (
        before.number == after.number
        and before.span.last_offset + 1 == after.span.base_offset
        and before.span.append_ms == after.span.append_ms
    )


def _is_near(first: Span, last: Span, span: Span) -> bool:
    return (
        last.segment == span.segment
        and span.at - (last.at + last.length) <= GAP_BYTES_MAX
        and span.at + span.length - first.at <= BLOCK_BYTES_MAX
    )


def _as_block(together: Sequence[Span]) -> dict[Span, Block]:
    end = max(span.at + span.length for span in together)
    return dict.fromkeys(together, Block(together[0].segment, together[0].at, end))
