"""Reader: from a view of a partition to the batches at an offset.

    spans of the view -> bytes of each (all at once) -> batches, patched for sending

An object missing behind an index entry means that the place has moved: the caller reads the index
again and tries once more before it fails loudly.
"""

import asyncio
from collections.abc import Sequence

from lakestream.model.place import PartitionView, Span
from lakestream.storage.reader.placed import run_from
from lakestream.storage.reader.segment_reader import SegmentReader
from lakestream.storage.records.run import Run


class Reader:
    def __init__(self, segments: SegmentReader) -> None:
        self._segments = segments

    async def read(self, view: PartitionView, offset: int, bytes_max: int, *, at_least_one: bool) -> Run:
        """Whole batches from `offset`, up to `bytes_max`, or a single larger one if `at_least_one`."""
        wanted = spans_within(view.spans, bytes_max)
        pieces = await asyncio.gather(*(self._segments.read(span) for span in wanted))
        return _join(wanted, pieces, offset, bytes_max, at_least_one=at_least_one)

    async def span_bytes(self, span: Span) -> list[memoryview]:
        return await self._segments.read(span)


def spans_within(spans: Sequence[Span], bytes_max: int) -> list[Span]:
    """The first spans that together reach `bytes_max`: at least one, if there is any."""
    wanted: list[Span] = []
    total = 0
    for span in spans:
        wanted.append(span)
        total += span.length
        if total >= bytes_max:
            break
    return wanted


def _join(
    spans: Sequence[Span],
    pieces: Sequence[Sequence[memoryview]],
    offset: int,
    bytes_max: int,
    *,
    at_least_one: bool,
) -> Run:
    parts = []
    total, next_offset = 0, offset
    for span, span_pieces in zip(spans, pieces, strict=True):
        run = run_from(span, span_pieces, next_offset, bytes_max - total, at_least_one=at_least_one and not total)
        parts.extend(run.parts)
        total += run.bytes
        next_offset = max(next_offset, run.next_offset)
        if next_offset <= span.last_offset:
            break  # the rest of this span did not fit
    return Run(parts, total, next_offset)
