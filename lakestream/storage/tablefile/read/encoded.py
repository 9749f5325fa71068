"""Rows to batches that can be sent: cut where their kind or their file changes, compressed as their source was.

    records of one or two row groups -> slices in offset order -> batches, with true offsets

The rows of a span may lie in two files, since some are hidden from SQL. Batches must not overlap, so rows of one file
are cut where a row of the other lies between them.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.storage.records.encode import EncodedBatch, encode_placed
from lakestream.storage.records.header import (
    LENGTH_OVERHEAD_BYTES,
    PREFIX_BYTES,
    Codec,
    placed_prefix,
)
from lakestream.storage.tablefile.format.footer import PlacedRun
from lakestream.storage.tablefile.format.runs import RowRun


class Encoding(NamedTuple):
    """How records are sent: `codec` applies to records whose batches were compressed; the others stay uncompressed."""

    codec: Codec = Codec.LZ4
    batch_bytes_max: int = 256 * 1024
    """Small enough that a fetch of the usual 1 MiB is well filled, large enough that batches cost nothing."""

    def codec_of(self, run: RowRun) -> Codec:
        return self.codec if run.is_compressed else Codec.NONE


class RunRows(NamedTuple):
    """Rows of one run, all or some of them."""

    run: RowRun
    rows: pa.RecordBatch

    @property
    def offsets(self) -> NDArray[np.int64]:
        offsets: NDArray[np.int64] = self.rows.column("offset").to_numpy()
        return offsets

    def slice(self, first: int, count: int) -> "RunRows":
        return RunRows(self.run, self.rows.slice(first, count))


def runs_within(rows: pa.RecordBatch, runs: Sequence[PlacedRun], after: int, until: int) -> list[RunRows]:
    """The rows of the runs with offsets in (after, until]."""
    found = []
    for first_row, run in runs:
        if run.last_offset <= after or run.base_offset > until:
            continue
        whole = RunRows(run, rows.slice(first_row, run.rows))
        if after < run.base_offset and run.last_offset <= until:
            found.append(whole)
            continue
        first, last = np.searchsorted(whole.offsets, (after, until), side="right").tolist()
        found.append(whole.slice(first, last - first))
    return found


def encode_in_order(pieces: Sequence[RunRows], encoding: Encoding) -> list[EncodedBatch]:
    """Encode pieces of one file, or of two files whose offsets interleave."""
    return [batch for piece in _in_offset_order(pieces) for batch in encode_piece(piece, encoding)]


def _in_offset_order(pieces: Sequence[RunRows]) -> Iterator[RunRows]:
    """The pieces, cut and ordered so that none reaches past the beginning of the next."""
    if len(pieces) < 2:
        yield from pieces
        return
    offsets = np.concatenate([piece.offsets for piece in pieces])
    owners = np.repeat(np.arange(len(pieces)), [piece.rows.num_rows for piece in pieces])
    owners = owners[np.argsort(offsets, kind="stable")]
    cuts = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(owners)]
    taken = [0] * len(pieces)
    for first, last in pairwise(cuts):
        owner = int(owners[first])
        yield pieces[owner].slice(taken[owner], last - first)
        taken[owner] += last - first


def encode_piece(piece: RunRows, encoding: Encoding) -> list[EncodedBatch]:
    if piece.run.is_raw:
        return [_raw(piece)]
    return encode_placed(
        piece.rows,
        batch_bytes_max=encoding.batch_bytes_max,
        codec=encoding.codec_of(piece.run),
        log_append_time=piece.run.is_log_append_time,
    )


def _raw(piece: RunRows) -> EncodedBatch:
    """The stored batch, with its place in the log patched in, which lies outside its checksum."""
    stored = memoryview(piece.rows.column("value")[0].as_buffer())
    prefix = placed_prefix(piece.run.base_offset, len(stored) - LENGTH_OVERHEAD_BYTES)
    return EncodedBatch(
        piece.run.base_offset, piece.run.last_offset, memoryview(b"".join((prefix, stored[PREFIX_BYTES:])))
    )
