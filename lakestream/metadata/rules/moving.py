"""Give inline spans their new place: the arithmetic of a move, without a database.

    spans that are still there, as read under lock  +  where their bytes are now  ->  rows to change, rows to remove

Each small flush leaves a span of its own. A move lays a partition's bytes side by side, so neighbouring spans become
one. The last one's row stays: a span is found by its last offset.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lakestream.model.place import SegmentId
from lakestream.model.topic import PartitionId

MERGED_BYTES_MAX = 64 * 1024
"""Spans do not grow beyond this by merging: a reader walks over all batches of a span to find an offset."""


class StillInline(NamedTuple):
    """A span of the log that lies in an inline segment."""

    partition: PartitionId
    base_offset: int
    last_offset: int
    segment: SegmentId
    length: int
    max_timestamp_ms: int
    running_max_timestamp_ms: int
    append_ms: int
    committed_ms: int


class Replaced(NamedTuple):
    """A span's row after the move, found by partition and last offset."""

    partition: PartitionId
    last_offset: int
    base_offset: int
    at: int
    length: int
    max_timestamp_ms: int


SpanKey = tuple[PartitionId, int]
"""A partition and a span's last offset."""


def moved_rows(found: Sequence[StillInline], ats: Mapping[SpanKey, int]) -> tuple[list[Replaced], list[SpanKey]]:
    """The rows that stay, with their new place, and the keys of rows that became part of another."""
    rows: list[Replaced] = []
    absorbed: list[SpanKey] = []
    before: StillInline | None = None
    for span in sorted(found, key=_key):
        row = Replaced(
            span.partition, span.last_offset, span.base_offset, ats[_key(span)], span.length, span.max_timestamp_ms
        )
        if before is not None and before.append_ms == span.append_ms and _continues(rows[-1], row):
            absorbed.append(_key(before))
            row = row._replace(
                base_offset=rows[-1].base_offset,
                at=rows[-1].at,
                length=rows[-1].length + row.length,
                max_timestamp_ms=max(rows[-1].max_timestamp_ms, row.max_timestamp_ms),
            )
            rows.pop()
        rows.append(row)
        before = span
    return rows, absorbed


def _continues(before: Replaced, after: Replaced) -> bool:
    return (
        before.partition == after.partition
        and before.last_offset + 1 == after.base_offset
        and before.at + before.length == after.at
        and before.length + after.length <= MERGED_BYTES_MAX
    )


def _key(span: StillInline) -> SpanKey:
    return span.partition, span.last_offset
