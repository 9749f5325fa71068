"""Columns as Arrow fields, with the field ids that Parquet and Iceberg use. All are nullable."""

from collections.abc import Sequence

import pyarrow as pa

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LIST,
    LONG,
    MAP,
    STRING,
    STRUCT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    decimal_digits,
    fixed_size,
)

FIELD_ID = b"PARQUET:field_id"
UUID_BYTES = 16
_PRIMITIVES: dict[str, pa.DataType] = {
    BOOLEAN: pa.bool_(),
    INT: pa.int32(),
    LONG: pa.int64(),
    FLOAT: pa.float32(),
    DOUBLE: pa.float64(),
    DATE: pa.date32(),
    TIME: pa.time64("us"),
    TIMESTAMP: pa.timestamp("us"),
    TIMESTAMPTZ: pa.timestamp("us", "UTC"),
    STRING: pa.string(),
    BINARY: pa.binary(),
    UUID: pa.binary(UUID_BYTES),
}


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([arrow_field(column) for column in columns])


def arrow_field(column: Column, *, nullable: bool = True) -> pa.Field:
    return pa.field(column.name, arrow_type(column), nullable=nullable, metadata={FIELD_ID: str(column.id)})


def arrow_type(column: Column) -> pa.DataType:
    if column.kind == STRUCT:
        return pa.struct([arrow_field(child) for child in column.children])
    if column.kind == LIST:
        return pa.list_(arrow_field(column.children[0]))
    if column.kind == MAP:
        key, value = column.children
        return pa.map_(arrow_field(key, nullable=False), arrow_field(value))
    if digits := decimal_digits(column.kind):
        return pa.decimal128(*digits)
    if size := fixed_size(column.kind):
        return pa.binary(size)
    return _PRIMITIVES[column.kind]
