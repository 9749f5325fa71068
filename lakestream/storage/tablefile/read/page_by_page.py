"""Encodes a row group that holds nothing but one window to batches, one page of its values at a time.

    bytes -> offsets, times, keys, headers -----------+
          -> a page of values, decompressed -> views -+-> batches with their checksums, then the next page

So a group costs one change of threads, and its values are decompressed into memory that the page before has just left.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from lakestream.storage.records.encode import EncodedBatch
from lakestream.storage.records.header import Bytes
from lakestream.storage.records.paged import PagedRows, ValuePage
from lakestream.storage.tablefile.format.footer import FileFooter
from lakestream.storage.tablefile.format.runs import RowRun
from lakestream.storage.tablefile.format.typed import Restorer
from lakestream.storage.tablefile.read.encoded import Encoding, RunRows, encode_piece
from lakestream.storage.tablefile.read.from_columns import RowGroup
from lakestream.storage.tablefile.read.group_bytes import GroupBytes


class _Cut(NamedTuple):
    """Rows of one run, by their numbers in the group."""

    run: RowRun
    first: int
    end: int


def batches_of_group(
    footer: FileFooter, wanted: GroupBytes, data: Bytes, restorer: Restorer, encoding: Encoding
) -> list[EncodedBatch]:
    """All records of a row group of one partition. A batch ends with its page at the latest."""
    group = RowGroup(footer, wanted, data, restorer)
    others = group.others()
    paged = PagedRows(*others.columns)
    runs = footer.groups[wanted.group]
    batches: list[EncodedBatch] = []
    done = 0
    for page in group.value_pages():
        for cut in _by_run(runs, done, done + page.rows):
            part = page.slice(cut.first - done, cut.end - done)
            batches += _of_page(group, others, paged, cut, part, encoding)
        done += page.rows
    if done < others.num_rows:
        batches += _of_rest(group, others, runs, done, encoding)
    return batches


def _of_page(
    group: RowGroup, others: pa.RecordBatch, paged: PagedRows, cut: _Cut, page: ValuePage, encoding: Encoding
) -> list[EncodedBatch]:
    if cut.run.is_raw:
        return encode_piece(RunRows(cut.run, group.records(others, page.array(), cut.first)), encoding)
    return paged.encode(
        cut.first,
        page,
        batch_bytes_max=encoding.batch_bytes_max,
        codec=encoding.codec_of(cut.run),
        log_append_time=cut.run.is_log_append_time,
    )


def _of_rest(
    group: RowGroup, others: pa.RecordBatch, runs: Sequence[RowRun], done: int, encoding: Encoding
) -> list[EncodedBatch]:
    """Batches of the rows from `done` on, whose values cannot be read in their pages."""
    rest = group.records(others, group.values().slice(done), done)
    pieces = [
        RunRows(cut.run, rest.slice(cut.first - done, cut.end - cut.first))
        for cut in _by_run(runs, done, others.num_rows)
    ]
    return [batch for piece in pieces for batch in encode_piece(piece, encoding)]


def _by_run(runs: Sequence[RowRun], first: int, end: int) -> Iterator[_Cut]:
    """Rows from `first` to `end`, cut where a run ends."""
    start = 0
    for run in runs:
        low, high = max(start, first), min(start + run.rows, end)
        if low < high:
            yield _Cut(run, low, high)
        start += run.rows
