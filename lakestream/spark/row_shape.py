"""Gives the rows of table files and of WAL spans the same columns: those that a DataFrame shows.

    row group of a file -> its columns by the layout in its footer ----------+-> inner rows -> + partition, key columns
    stretch of a span   -> values decoded under the topic's contract --------+                 -> the DataFrame's rows

`__value` has the bytes of every value, as a consumer gets them: where a file has them in typed columns alone, they are
restored. If `__value` is not shown, nothing is restored and only the shown columns are read.
"""

from functools import lru_cache

import numpy as np
import pyarrow as pa

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.showing import counterpart, shown, shown_type
from lakestream.contract.topic.topic_contract import TopicContract
from lakestream.contract.values.decoding.decoder import ValueDecoder
from lakestream.contract.values.decoding.key_decoder import KeyDecoder
from lakestream.contract.values.rules import Rules
from lakestream.spark.shown_columns import ShownColumns
from lakestream.storage.tablefile.format.columns import (
    HEADERS,
    HEADERS_TYPE,
    KEY,
    OFFSET,
    PARTITION,
    TIMESTAMP,
    VALUE,
)
from lakestream.storage.tablefile.format.footer import FileFooter
from lakestream.storage.tablefile.read.group_bytes import record_columns
from lakestream.storage.tablefile.read.span_rows import WantedColumns, unreadable
from lakestream.storage.tablefile.write.stretch import Stretch
from lakestream.storage.tablefile.write.to_columns import times_in_micros

LAYOUTS_KEPT_MAX = 64
"""Files of one topic mostly share their layout."""
_SYSTEM_OF_FILE = (OFFSET, TIMESTAMP, KEY, HEADERS)


class DataFrameShape:
    """A RowShape (storage/tablefile/read/span_rows.py) that also takes stretches of WAL spans."""

    def __init__(self, columns: ShownColumns, contract: TopicContract) -> None:
        self._columns = columns
        self._schema = columns.schema
        self._layout_of = lru_cache(maxsize=LAYOUTS_KEPT_MAX)(_layout_of)
        self._contract = contract
        self._decoder = ValueDecoder(contract) if columns.values and contract.is_typed else None
        key = contract.key
        self._keys = KeyDecoder(contract, key) if columns.keys and key is not None and key.is_typed else None
        self._needs_key = columns.shows(KEY) or bool(columns.keys)
        self._inner = [name for name in (OFFSET, TIMESTAMP, KEY, HEADERS, VALUE) if self._is_inner(name)]

    def wanted(self, footer: FileFooter) -> WantedColumns:
        if self._columns.shows(VALUE):
            return WantedColumns(record_columns(footer), restore=True)
        own = self._layout_of(footer.rules).columns
        typed = [found.name for one in self._columns.values if (found := counterpart(one, own)) is not None]
        return WantedColumns((*typed, *(name for name in _SYSTEM_OF_FILE if self._is_inner(name))), restore=False)

    def shaped(self, footer: FileFooter, rows: pa.RecordBatch) -> pa.RecordBatch:
        own = self._layout_of(footer.rules).columns
        values = [_value_column(rows, own, one) for one in self._columns.values]
        system = [_system_column(rows, name) for name in self._inner]
        return self._inner_rows(values, system)

    def of_stretch(self, stretch: Stretch) -> pa.RecordBatch:
        """Raises UnreadableBatch."""
        if stretch.is_raw:
            base_offset = stretch.rows.column("offset")[0].as_py()
            raise unreadable(stretch.partition, base_offset, stretch.last_offset)
        columns = {
            OFFSET: lambda: stretch.rows.column("offset"),
            TIMESTAMP: lambda: times_in_micros(stretch.rows.column("timestamp").to_numpy()),
            KEY: lambda: stretch.rows.column("key"),
            HEADERS: lambda: stretch.rows.column("headers").cast(HEADERS_TYPE),
            VALUE: lambda: stretch.rows.column("value"),
        }
        return self._inner_rows(self._decoded(stretch), [columns[name]() for name in self._inner])

    def finished(self, partition: int, inner: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of one partition, with all columns of the DataFrame."""
        columns = dict(zip(inner.schema.names, inner.columns, strict=True))
        if self._columns.shows(PARTITION):
            columns[PARTITION] = pa.array(np.full(inner.num_rows, partition, np.int32))
        if self._columns.keys:
            columns |= self._key_columns(columns[KEY])
        return pa.RecordBatch.from_arrays([columns[name] for name in self._schema.names], schema=self._schema)

    def _is_inner(self, name: str) -> bool:
        return name == OFFSET or self._columns.shows(name) or (name == KEY and self._needs_key)

    def _inner_rows(self, values: list[pa.Array], system: list[pa.Array]) -> pa.RecordBatch:
        names = [column.name for column in self._columns.values]
        return pa.RecordBatch.from_arrays([*values, *system], names=[*names, *self._inner])

    def _decoded(self, stretch: Stretch) -> list[pa.Array]:
        wanted = self._columns.values
        if self._decoder is None:
            return [pa.nulls(stretch.rows.num_rows, shown_type(one)) for one in wanted]
        decoded = self._decoder.decode(stretch.rows.column("value")).columns
        return [_value_column(decoded, self._contract.layout.columns, one) for one in wanted]

    def _key_columns(self, keys: pa.Array) -> dict[str, pa.Array]:
        wanted, own = self._columns.keys, self._contract.layout.key_columns
        if self._keys is None:
            return {one.name: pa.nulls(len(keys), shown_type(one)) for one in wanted}
        decoded = pa.RecordBatch.from_arrays(self._keys.decode(keys), names=[one.name for one in own])
        return {one.name: _value_column(decoded, own, one) for one in wanted}


def _layout_of(rules: str | None) -> Layout:
    return Layout() if rules is None else Rules.from_text(rules).layout


def _value_column(rows: pa.RecordBatch, own: tuple[Column, ...], wanted: Column) -> pa.Array:
    found = counterpart(wanted, own)
    if found is None:
        return pa.nulls(rows.num_rows, shown_type(wanted))
    return shown(rows.column(found.name), found, wanted)


def _system_column(rows: pa.RecordBatch, name: str) -> pa.Array:
    if name in rows.schema.names:
        column = rows.column(name)
        return column.cast(pa.binary()) if pa.types.is_binary_view(column.type) else column
    if name == HEADERS:  # no record of the row group has any
        nothing = pa.array([], HEADERS_TYPE.value_type)
        return pa.ListArray.from_arrays(np.zeros(rows.num_rows + 1, np.int32), nothing, type=HEADERS_TYPE)
    return pa.nulls(rows.num_rows, pa.binary())
