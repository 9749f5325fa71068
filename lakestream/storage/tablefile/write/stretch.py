"""Stretches: batches of the log on their way into a table file.

    bytes of a span -> batches of one kind, side by side -> decoded together -> rows
                                                         -> batches that cannot be read: one raw row for each

A batch that is damaged, too large once decompressed, or that holds a time that no table can (see below) is not lost and
stops nothing: it becomes one row over all its offsets and is served unchanged.

Iceberg counts micros in 64 bits, so times reach from -9223372036854775 to 9223372036854775 ms (the year 294247). The
gate refuses negative ones and, by default, those in the future; a topic that validates headers alone may still hold
others. -1 means no time and becomes null.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lakestream.storage.records.aborted import NOTHING_ABORTED, AbortedBatches
from lakestream.storage.records.decode import SCHEMA, decode_batches
from lakestream.storage.records.errors import BadBatch, CorruptBatch
from lakestream.storage.records.header import (
    CODEC_MASK,
    HEADER_BYTES,
    LOG_APPEND_TIME_BIT,
    Bytes,
    Codec,
    read_header,
    with_log_append_time,
)
from lakestream.storage.tablefile.format.errors import UnstorableRows
from lakestream.storage.tablefile.format.runs import RAW_BATCH

TIMESTAMP_MS_MAX = (2**63 - 1) // 1000
TIMESTAMP_MS_MIN = -TIMESTAMP_MS_MAX
TOGETHER_BYTES_MAX = 8 * 1024 * 1024
"""Batch bytes decoded in one call: enough to make the call cheap, little enough to hold."""
_NO_ROWS = pa.RecordBatch.from_pylist([], schema=SCHEMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Rows of one partition in offset order (schema of `records.decode`), from batches of one kind.

    `source` is as in `runs`: the batches' codec and kind of time, or RAW_BATCH for a single row that is a batch. If
    values are in typed columns, `typed` has these and the hidden ones (typed.py), row by row, and `rows` has only the
    values that are kept as bytes.
    """

    partition: int
    source: int
    rows: pa.RecordBatch
    last_offset: int
    typed: pa.RecordBatch | None = None

    @property
    def is_raw(self) -> bool:
        return self.source == RAW_BATCH

    def slice(self, first: int, count: int | None = None) -> "Stretch":
        """Some of its rows; the new stretch ends with the last of them."""
        rows = self.rows.slice(first, count)
        return self._of(rows, None if self.typed is None else self.typed.slice(first, count))

    def where(self, mask: pa.BooleanArray) -> "Stretch | None":
        """The rows that the mask selects, or None if there are none."""
        count = mask.true_count
        if not count:
            return None
        return self._of(_where(self.rows, mask, count), None if self.typed is None else _where(self.typed, mask, count))

    def _of(self, rows: pa.RecordBatch, typed: pa.RecordBatch | None) -> "Stretch":
        last_offset = self.last_offset if self.is_raw else rows.column("offset")[-1].as_py()
        return replace(self, rows=rows, typed=typed, last_offset=last_offset)


class _Placed(NamedTuple):
    """A batch of the span: its bytes, and its true offsets."""

    at: int
    end: int
    base_offset: int
    last_offset: int
    attributes: int
    is_dropped: bool
    """A marker, or a batch of an aborted transaction: none of its records becomes a row."""

    @property
    def kind(self) -> tuple[bool, bool, bool]:
        uncompressed = self.attributes & CODEC_MASK == Codec.NONE
        return self.is_dropped, uncompressed, bool(self.attributes & LOG_APPEND_TIME_BIT)


def stretches_of_span(
    data: Bytes,
    *,
    partition: int,
    base_offset: int,
    append_ms: int,
    decompressed_bytes_max: int,
    aborted: AbortedBatches = NOTHING_ABORTED,
) -> Iterator[Stretch]:
    """The whole batches of a WAL span, in order. `append_ms` is the span's: -1 if the producer's times count. Markers,
    and batches of `aborted` transactions, are stretches without rows.

    Raises CorruptBatch if `data` is not a sequence of batches: their lengths must fit, their contents need not.
    """
    span = _Span(memoryview(data), partition, append_ms, decompressed_bytes_max)
    for batches in _side_by_side(_placed(span.data, base_offset, aborted)):
        if batches[0].is_dropped:
            yield Stretch(partition=partition, source=0, rows=_NO_ROWS, last_offset=batches[-1].last_offset)
        else:
            yield from span.stretches(batches)


def raw_stretch(batch: Bytes, *, partition: int, base_offset: int, append_ms: int = -1) -> Stretch:
    """A batch stored unchanged, whatever it contains."""
    whole = batch if append_ms < 0 else with_log_append_time(batch, append_ms)
    header = read_header(whole)
    columns = [[base_offset], [header.max_timestamp_ms], [None], [whole], [[]]]
    return Stretch(
        partition=partition,
        source=RAW_BATCH,
        rows=pa.record_batch([pa.array(*each) for each in zip(columns, SCHEMA.types, strict=True)], schema=SCHEMA),
        last_offset=base_offset + header.last_offset_delta,
    )


def rows_stretch(rows: pa.RecordBatch, *, partition: int, codec: Codec, log_append_time: bool = False) -> Stretch:
    """One or more records that were decoded elsewhere. Raises UnstorableRows if a table cannot hold their times."""
    if not times_are_storable(rows):
        raise UnstorableRows("a record's time is out of the range of Iceberg: store its batch as a raw one")
    return Stretch(
        partition=partition,
        source=codec | (LOG_APPEND_TIME_BIT if log_append_time else 0),
        rows=rows,
        last_offset=rows.column("offset")[-1].as_py(),
    )


def times_are_storable(rows: pa.RecordBatch) -> bool:
    times = rows.column("timestamp").to_numpy()
    return len(times) == 0 or bool(times.min() >= TIMESTAMP_MS_MIN and times.max() <= TIMESTAMP_MS_MAX)


def _placed(data: memoryview, base_offset: int, aborted: AbortedBatches) -> Iterator[_Placed]:
    at = 0
    while at < len(data):
        header = read_header(data, at)
        end = at + header.total_bytes
        if not at + HEADER_BYTES <= end <= len(data) or header.last_offset_delta < 0:
            raise CorruptBatch(f"the bytes at {at} are no record batch: read the whole span, from its beginning")
        last_offset = base_offset + header.last_offset_delta
        is_dropped = header.is_transactional and (header.is_control or aborted.hold(header.producer_id, base_offset))
        yield _Placed(at, end, base_offset, last_offset, header.attributes, is_dropped)
        at, base_offset = end, last_offset + 1


def _side_by_side(batches: Iterator[_Placed]) -> Iterator[list[_Placed]]:
    """Neighbours that are all compressed or all not, with the same kind of time, up to a bound."""
    for _, alike in groupby(batches, key=lambda batch: batch.kind):
        together: list[_Placed] = []
        for batch in alike:
            if together and batch.end - together[0].at > TOGETHER_BYTES_MAX:
                yield together
                together = []
            together.append(batch)
        yield together


class _Span(NamedTuple):
    data: memoryview
    partition: int
    append_ms: int
    decompressed_bytes_max: int

    def stretches(self, batches: Sequence[_Placed]) -> Iterator[Stretch]:
        """One stretch for all batches; if that fails, one for each, of which some may be raw."""
        whole = self._stretch(batches)
        if whole is not None:
            yield whole
        else:
            for batch in batches:
                yield self._stretch([batch]) or self._raw(batch)

    def _stretch(self, batches: Sequence[_Placed]) -> Stretch | None:
        """The batches as one stretch. None if at least one of them cannot be stored as rows."""
        first, last = batches[0], batches[-1]
        bases = [batch.base_offset for batch in batches]
        try:
            rows = decode_batches(
                self.data[first.at : last.end], bytes_max=self.decompressed_bytes_max, base_offsets=bases
            )
        except BadBatch:
            return None
        if self.append_ms >= 0:
            times = pa.array(np.full(rows.num_rows, self.append_ms, np.int64))
            rows = rows.set_column(1, SCHEMA.field("timestamp"), times)
        if not times_are_storable(rows) or not _are_dense(rows, first.base_offset, last.last_offset):
            return None
        kind_of_time = LOG_APPEND_TIME_BIT if self.append_ms >= 0 else first.attributes & LOG_APPEND_TIME_BIT
        return Stretch(
            partition=self.partition,
            source=first.attributes & CODEC_MASK | kind_of_time,
            rows=rows,
            last_offset=last.last_offset,
        )

    def _raw(self, batch: _Placed) -> Stretch:
        return raw_stretch(
            self.data[batch.at : batch.end],
            partition=self.partition,
            base_offset=batch.base_offset,
            append_ms=self.append_ms,
        )


def _where(batch: pa.RecordBatch, mask: pa.BooleanArray, count: int) -> pa.RecordBatch:
    """The rows that the mask selects. Arrow filters a batch row by row and a column in runs: the latter is faster if
    most rows are selected."""
    if 2 * count < batch.num_rows:
        return batch.filter(mask)
    columns = [column.slice(0, count) if _is_bare(column) else column.filter(mask) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _is_bare(column: pa.Array) -> bool:
    """Whether every row is null or an empty list, as headers mostly are. Then any `count` rows are as good as
    others."""
    if column.null_count or not pa.types.is_list(column.type):
        return bool(column.null_count == len(column))
    return bool(column.offsets[0] == column.offsets[-1])


def _are_dense(rows: pa.RecordBatch, base_offset: int, last_offset: int) -> bool:
    """Whether there is one record for each offset, as in a producer's batch; headers alone do not prove it."""
    offsets = rows.column("offset").to_numpy()
    return np.array_equal(offsets, np.arange(base_offset, last_offset + 1))
