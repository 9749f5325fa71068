"""Lookups by time: the footer's greatest times lead to the row group, its offsets and times to the record.

runs from an offset on -> those that reach the time -> offsets and times of their row groups -> the first record

A raw batch is not opened: it is there because it could not be read, or because its times fit into no table. It counts
as one record at its first offset (or at `from_offset`, if that lies inside it) with the greatest time that its header
claims. So a lookup may answer an offset before the exact record, never behind it, and off by no more than that batch.
"""

from typing import NamedTuple

import numpy as np

from lakestream.storage.tablefile.format.footer import PartitionExtent, PlacedRun
from lakestream.storage.tablefile.read.from_columns import Times


class RecordAtTime(NamedTuple):
    offset: int
    timestamp_ms: int


def may_reach(extent: PartitionExtent, timestamp_ms: int, from_offset: int) -> bool:
    """Whether the row group may hold a record of this time or later, at this offset or above."""
    return any(_reaches(each, timestamp_ms, from_offset) for each in extent.runs)


def first_at_or_after(
    extent: PartitionExtent, times: Times, timestamp_ms: int, from_offset: int
) -> RecordAtTime | None:
    """The first record of the extent, by offset. A raw batch counts as one record that has its greatest time."""
    for placed in extent.runs:
        if _reaches(placed, timestamp_ms, from_offset):
            found = _in_run(placed, times, timestamp_ms, from_offset)
            if found is not None:
                return found
    return None


def latest(extent: PartitionExtent, times: Times, from_offset: int) -> int:
    """The greatest time of the extent's records from `from_offset` on, which must not be above the extent's last
    offset."""
    return max(_latest(placed, times, from_offset) for placed in extent.runs if placed.run.last_offset >= from_offset)


def _latest(placed: PlacedRun, times: Times, from_offset: int) -> int:
    run = placed.run
    if run.is_raw or run.base_offset >= from_offset:
        return run.max_timestamp_ms
    offsets, timestamps_ms = _slice(placed, times)
    return int(timestamps_ms[offsets >= from_offset].max())


def _reaches(placed: PlacedRun, timestamp_ms: int, from_offset: int) -> bool:
    return placed.run.last_offset >= from_offset and placed.run.max_timestamp_ms >= timestamp_ms


def _in_run(placed: PlacedRun, times: Times, timestamp_ms: int, from_offset: int) -> RecordAtTime | None:
    run = placed.run
    if run.is_raw:
        return RecordAtTime(max(run.base_offset, from_offset), run.max_timestamp_ms)
    offsets, timestamps_ms = _slice(placed, times)
    hits = (timestamps_ms >= timestamp_ms) & (offsets >= from_offset)
    at = int(np.argmax(hits))
    return RecordAtTime(int(offsets[at]), int(timestamps_ms[at])) if hits[at] else None


def _slice(placed: PlacedRun, times: Times) -> Times:
    rows = slice(placed.first_row, placed.first_row + placed.run.rows)
    return Times(times.offsets[rows], times.timestamps_ms[rows])
