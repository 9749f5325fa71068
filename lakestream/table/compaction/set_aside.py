"""Decodes set-aside values once more: readable ones become rows of `main`, the others stay.

    files of the branch `quarantine` -> rows -> chosen:     the value, or a fix in its place, is decoded again
                                                            -> rows of `main`, or still set aside
                                             -> not chosen: as they were

The log is not touched: Kafka's readers get the produced bytes in any case.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lakestream.model.repair import RecordPlace, RepairAction
from lakestream.model.row_form import Form
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.header import Codec
from lakestream.storage.tablefile.format.columns import (
    ERROR,
    FORM,
    HEADERS,
    KEY,
    OFFSET,
    PARTITION,
    SCHEMA_ID,
    TIMESTAMP,
    VALUE,
)
from lakestream.storage.tablefile.format.footer import parse_footer
from lakestream.storage.tablefile.write.stretch import Stretch
from lakestream.table.compaction.typed_rows import TypedRows
from lakestream.world.objects.store import Buffer

_NO_TIMESTAMP = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """The work on the rows of these files."""

    files: tuple[str, ...]
    """The files' locations."""
    keys: tuple[str, ...]
    """The files' keys in the object store."""
    action: RepairAction
    chosen: frozenset[RecordPlace] | None = None
    """None means all."""
    fixes: Mapping[RecordPlace, bytes] = field(default_factory=dict)
    """Other bytes to decode instead, for the table alone."""


def rows_set_aside(contents: Sequence[tuple[str, Buffer]]) -> pa.Table:
    """The rows of whole files, in order of partition and offset. Raises MalformedTableFile."""
    tables = []
    for path, content in contents:
        footer = parse_footer(path, content, len(content))
        footer.blocks.check(0, memoryview(content)[: footer.blocks.covered_bytes])
        columns = [PARTITION, OFFSET, TIMESTAMP, KEY, HEADERS, VALUE, SCHEMA_ID, ERROR]
        tables.append(pq.read_table(pa.BufferReader(pa.py_buffer(content)), columns=columns, partitioning=None))
    return pa.concat_tables(tables).sort_by([(PARTITION, "ascending"), (OFFSET, "ascending")]).combine_chunks()


@dataclass(slots=True)
class Repaired:
    """The rows of one partition after the repair."""

    main: Stretch | None
    set_aside: Stretch | None


def repaired(rows: pa.Table, work: SetAside, typed: TypedRows) -> Iterator[Repaired]:
    for partition in pc.unique(rows.column(PARTITION)).to_pylist():
        own = rows.filter(pc.equal(rows.column(PARTITION), partition)).combine_chunks()
        is_chosen = _chosen(own, partition, work)
        staying = [_as_it_was(own.filter(pa.array(~is_chosen)), partition, typed)]
        main = None
        if work.action is RepairAction.RETRY and is_chosen.any():
            chosen = _stretch(own.filter(pa.array(is_chosen)), partition, work.fixes)
            for for_log, part in typed.split(chosen):
                if for_log:
                    staying.append(_quarantined(part))
                else:
                    main = part
        yield Repaired(main, _in_order([one for one in staying if one is not None]))


def _chosen(rows: pa.Table, partition: int, work: SetAside) -> NDArray[np.bool_]:
    if work.chosen is None:
        return np.ones(rows.num_rows, np.bool_)
    offsets = rows.column(OFFSET).to_numpy()
    return np.isin(offsets, [offset for number, offset in work.chosen if number == partition])


def _stretch(rows: pa.Table, partition: int, fixes: Mapping[RecordPlace, bytes]) -> Stretch:
    times = rows.column(TIMESTAMP).cast(pa.int64()).to_numpy(zero_copy_only=False)
    missing = rows.column(TIMESTAMP).is_null().to_numpy()
    offsets = rows.column(OFFSET).to_numpy()
    values = rows.column(VALUE).to_pylist()
    for at, offset in enumerate(offsets.tolist()):
        values[at] = fixes.get((partition, offset), values[at])
    columns = [
        pa.array(offsets),
        pa.array(np.where(missing, _NO_TIMESTAMP, np.where(missing, 0, times) // 1000).astype(np.int64)),
        rows.column(KEY).combine_chunks(),
        pa.array(values, pa.binary()),
        rows.column(HEADERS).combine_chunks().cast(SCHEMA.field("headers").type),
    ]
    batch = pa.RecordBatch.from_arrays([_one(column) for column in columns], schema=SCHEMA)
    return Stretch(partition=partition, source=Codec.NONE, rows=batch, last_offset=int(offsets[-1]))


def _as_it_was(rows: pa.Table, partition: int, typed: TypedRows) -> Stretch | None:
    if not rows.num_rows:
        return None
    stretch = _stretch(rows, partition, {})
    user = [pa.nulls(rows.num_rows, one.type) for one in typed.schema]
    hidden = [
        pa.array(np.full(rows.num_rows, Form.QUARANTINED, np.int32)),
        _one(rows.column(SCHEMA_ID).combine_chunks()),
        pa.nulls(rows.num_rows, pa.int32()),
        _one(rows.column(ERROR).combine_chunks()),
    ]
    return replace(stretch, typed=typed.rows(user, hidden, stretch.rows.column("key")))


def _quarantined(part: Stretch) -> Stretch | None:
    assert part.typed is not None
    return part.where(pc.equal(part.typed.column(FORM), int(Form.QUARANTINED)))


def _in_order(parts: Sequence[Stretch]) -> Stretch | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    rows = pa.concat_batches([part.rows for part in parts])
    typed = pa.concat_batches([part.typed for part in parts])
    order = pc.sort_indices(rows.column("offset"))
    offsets = rows.column("offset").to_numpy()
    return replace(parts[0], rows=rows.take(order), typed=typed.take(order), last_offset=int(offsets.max()))


def _one(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
