"""Restores the values of typed rows from their columns, in Spark's workers, so that they can be hashed like others.

    rows of `<table>__log`, with the file of each -> by file: its rules, from its own footer -> the value's bytes

Spark reads the columns as it reads any Iceberg table.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.projecting import projected
from lakestream.contract.values.restoring import ContractRestorer
from lakestream.contract.values.rules import Rules
from lakestream.storage.tablefile.format.columns import (
    FORM,
    HEADERS,
    KEY,
    OFFSET,
    PARTITION,
    SCHEMA_ID,
    SHAPE,
    TIMESTAMP,
    VALUE,
)

FILE = "_file"
"""Iceberg's own column for the file of a row."""
_PLAIN = (PARTITION, OFFSET, TIMESTAMP, KEY, HEADERS, VALUE, FORM)
_PLAIN_TYPES = (
    f"{PARTITION} int, {OFFSET} bigint, {TIMESTAMP} timestamp, {KEY} binary,"
    f" {HEADERS} array<struct<key: string, value: binary>>, {VALUE} binary, {FORM} int"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedFiles:
    """The information that is needed to read values from columns."""

    columns: tuple[Column, ...]
    """The columns that `<table>__log` shows today."""
    rules: Mapping[str, str]
    """The rules of each file that has typed columns, by its location."""


def with_values(rows: DataFrame, files: TypedFiles) -> DataFrame:
    """The system's columns, with every value in `__value`."""
    names = [*(column.name for column in files.columns), *_PLAIN, SCHEMA_ID, SHAPE, FILE]
    quoted = ["`" + name.replace("`", "``") + "`" for name in names]
    return rows.selectExpr(*quoted).mapInArrow(_restoring(files), _PLAIN_TYPES)


def _restoring(files: TypedFiles) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """The function that Spark sends to its workers, including the rules."""

    def restore(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        restorer = ContractRestorer()
        for batch in batches:
            for file in pc.unique(batch.column(FILE)).to_pylist():
                yield _restored(batch.filter(pc.equal(batch.column(FILE), file)), files, file, restorer)

    return restore


def _restored(rows: pa.RecordBatch, files: TypedFiles, file: str, restorer: ContractRestorer) -> pa.RecordBatch:
    plain = rows.select(list(_PLAIN))
    rules = files.rules.get(file)
    if rules is None:
        return plain  # from before the topic had types
    columns = projected(rows, files.columns, Rules.from_text(rules).layout.columns)
    hidden = (FORM, SCHEMA_ID, SHAPE, VALUE)
    whole = pa.RecordBatch.from_arrays(
        [*columns.columns, *(rows.column(name) for name in hidden)], names=[*columns.schema.names, *hidden]
    )
    at = plain.schema.get_field_index(VALUE)
    return plain.set_column(at, plain.schema.field(at), restorer.restore(rules, whole))
