"""Writes the rows of several table files as one file. Runs in Spark's workers. No value is decoded.

    files, whole and checked -> their row groups, partition by partition -> stretches as they were -> one file

Rows keep everything that they have: offsets, times, bytes, typed columns, and the kind of batch that they came from.
Only the numbers of shapes change, since these are places in a list of the file's own (contract/values/joining.py).
Row groups are decoded one at a time from each file, and dropped when their last row is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lakestream.contract.values.joining import join_rules, placed_anew
from lakestream.model.file_compression import FileCompression
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.header import NO_TIMESTAMP
from lakestream.storage.tablefile.format.blocks import BadBlocks
from lakestream.storage.tablefile.format.columns import (
    BY_NAME,
    FORM,
    HEADERS,
    KEY,
    OFFSET,
    SCHEMA_ID,
    SHAPE,
    TIMESTAMP,
    VALUE,
    VISIBLE,
)
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.storage.tablefile.format.footer import FileFooter, PlacedRun, parse_footer
from lakestream.storage.tablefile.format.sink import Parts
from lakestream.storage.tablefile.write.stretch import Stretch
from lakestream.storage.tablefile.write.writer import TableFileWriter
from lakestream.world.objects.store import Buffer

_VISIBLE = frozenset(column.name for column in VISIBLE)
Content = tuple[str, Buffer]
"""A file's path and its bytes."""


class MergeSource(NamedTuple):
    path: str
    """The file's location in the table's metadata."""
    key: str
    """Its key in the object store."""
    only_log: bool
    """Whether only `log` shows its rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeWork:
    sources: tuple[MergeSource, ...]
    """In the order of their records."""


def merged_file(
    contents: Sequence[Content], *, path: str, compression: FileCompression
) -> tuple[list[Buffer], FileDescriptor]:
    """Raises MalformedTableFile, and ValueError if the files do not fit into one."""
    files = [_File(name, content) for name, content in contents]
    first = files[0]
    if any(file.parquet_schema != first.parquet_schema or file.is_typed != first.is_typed for file in files):
        raise ValueError("the files have different columns")
    rules = _join(files)
    sink = Parts()
    writer = TableFileWriter(
        sink,
        with_form=not first.is_typed and FORM in first.schema.names,
        typed=first.user_columns if first.is_typed else None,
        keys=first.key_columns if first.is_typed else None,
        compression=compression,
    )
    for number in sorted({number for file in files for number in file.footer.extents}):
        for file in sorted(files, key=lambda file: file.base_offset(number)):
            for stretch in file.stretches(number):
                writer.add(stretch)
    descriptor = writer.close(path=path, rules=rules)
    if descriptor.record_count != sum(file.footer.metadata.num_rows for file in files):
        raise ValueError("the merged file would not have all rows of the files that it is made of")
    if writer.parquet_schema != first.parquet_schema:
        raise ValueError("the merged file would have other columns than the files that it is made of")
    return sink.parts, descriptor


def _join(files: Sequence["_File"]) -> str:
    """The rules of the merged file. Every file learns the new places of its shapes."""
    texts = [file.footer.rules for file in files if file.footer.rules is not None]
    if not texts:
        return ""
    joined = join_rules(texts)
    for file, places in zip(files, joined.places, strict=True):
        file.places = places
    return joined.text


class _File:
    def __init__(self, path: str, content: Buffer) -> None:
        self.footer: FileFooter = parse_footer(path, content, len(content))
        try:
            self.footer.blocks.check(0, memoryview(content)[: self.footer.blocks.covered_bytes])
        except BadBlocks as error:
            raise MalformedTableFile(f"table file {path} is damaged: {error}. Restore the object") from error
        self.schema: pa.Schema = self.footer.metadata.schema.to_arrow_schema()
        self.places: Mapping[int, NDArray[np.int32]] = {}
        self._parquet = pq.ParquetFile(
            pa.BufferReader(pa.py_buffer(content)), metadata=self.footer.metadata, pre_buffer=False
        )
        self._groups: dict[int, pa.RecordBatch] = {}
        self._rows_left = {group: sum(run.rows for run in runs) for group, runs in enumerate(self.footer.groups)}

    @property
    def is_typed(self) -> bool:
        return self.footer.rules is not None

    @property
    def parquet_schema(self) -> pq.ParquetSchema:
        """With the columns' field ids."""
        return self.footer.metadata.schema

    @property
    def user_columns(self) -> pa.Schema:
        return pa.schema([self.schema.field(name) for name in self.footer.typed_columns])

    @property
    def key_columns(self) -> pa.Schema:
        known = {*self.footer.typed_columns, *BY_NAME}
        return pa.schema([field for field in self.schema if field.name not in known])

    def base_offset(self, number: int) -> int:
        extents = self.footer.extents.get(number)
        return extents[0].base_offset if extents else -1

    def stretches(self, number: int) -> Iterator[Stretch]:
        """The partition's rows, run by run."""
        for extent in self.footer.extents.get(number, ()):
            for placed in extent.runs:
                rows = self._group(extent.group).slice(placed.first_row, placed.run.rows)
                yield self._stretch(rows, placed)
                self._written(extent.group, placed.run.rows)

    def _group(self, group: int) -> pa.RecordBatch:
        if group not in self._groups:
            table = self._parquet.read_row_group(group, use_threads=False)
            columns = [_one(table.column(name)) for name in self.schema.names]
            self._groups[group] = pa.RecordBatch.from_arrays(columns, names=self.schema.names)
        return self._groups[group]

    def _written(self, group: int, rows: int) -> None:
        self._rows_left[group] -= rows
        if not self._rows_left[group]:
            del self._groups[group]

    def _stretch(self, rows: pa.RecordBatch, placed: PlacedRun) -> Stretch:
        run = placed.run
        times = pa.array([run.max_timestamp_ms]) if run.is_raw else _millis(rows.column(TIMESTAMP))
        records = [rows.column(OFFSET), times, rows.column(KEY), rows.column(VALUE), rows.column(HEADERS)]
        return Stretch(
            partition=run.partition,
            source=run.source,
            rows=pa.RecordBatch.from_arrays(
                [column.cast(field.type) for column, field in zip(records, SCHEMA, strict=True)], schema=SCHEMA
            ),
            last_offset=run.last_offset,
            typed=self._typed(rows) if self.is_typed else None,
        )

    def _typed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """All columns but the record's own."""
        names = [name for name in rows.schema.names if name not in _VISIBLE]
        columns = {name: rows.column(name) for name in names}
        columns[SHAPE] = placed_anew(columns[SHAPE], columns[SCHEMA_ID], self.places)
        return pa.RecordBatch.from_arrays([columns[name] for name in names], names=names)


def _millis(times: pa.Array) -> pa.Array:
    micros = np.frombuffer(times.buffers()[1], np.int64)[times.offset : times.offset + len(times)]
    if not times.null_count:
        return pa.array(micros // 1000)
    missing = times.is_null().to_numpy(zero_copy_only=False)
    return pa.array(np.where(missing, NO_TIMESTAMP, np.where(missing, 0, micros) // 1000))


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
