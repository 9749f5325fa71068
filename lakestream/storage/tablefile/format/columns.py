"""The system columns: the fields of a record in a table, with field ids that are never used for anything else.

    __partition __offset __timestamp __key __headers __value      visible: a raw topic's whole schema
    __form __schema __shape __error                               hidden: in files that need them, never in a schema

The JSON codec fills one more, `__rest`, which stands among a file's typed columns (model/rest_column.py).

Readers of Iceberg go by field id, so a column may be in the file and not in the schema. The ids lie far above those of
user columns, which are counted from 1, and below those that Iceberg keeps for itself (from 2147483447).

A table whose schema shows system columns starts with `LAST_COLUMN_ID` as its last column id. Engines number new columns
from there, so they never take the id of a hidden column or of one that we may add later.

In the schema every system column is optional, since rows that other engines insert have none of them. So is the key of
a header, since DuckDB otherwise reports it missing in every row without headers that it writes. In our files partition,
offset, headers and their keys are required, which costs nothing to store and less to read.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from lakestream.model.configs.value_configs import SystemColumns

RESERVED_IDS = range(2_000_000_000, 2_000_001_000)
LAST_COLUMN_ID = RESERVED_IDS[-1]

PARTITION, OFFSET, TIMESTAMP = "__partition", "__offset", "__timestamp"
KEY, HEADERS, VALUE = "__key", "__headers", "__value"
FORM, SCHEMA_ID, SHAPE, ERROR = "__form", "__schema", "__shape", "__error"


class SystemColumn(NamedTuple):
    name: str
    field_id: int
    iceberg: str
    arrow: pa.DataType
    required_in_file: bool
    doc: str


HEADERS_ELEMENT_ID = 2_000_000_106
HEADER_KEY_ID = 2_000_000_107
HEADER_VALUE_ID = 2_000_000_108
FIELD_ID = b"PARQUET:field_id"


def _with_id(name: str, kind: pa.DataType, field_id: int, *, nullable: bool) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={FIELD_ID: str(field_id)})


HEADERS_TYPE = pa.list_(
    _with_id(
        "element",
        pa.struct(
            [
                _with_id("key", pa.string(), HEADER_KEY_ID, nullable=False),
                _with_id("value", pa.binary(), HEADER_VALUE_ID, nullable=True),
            ]
        ),
        HEADERS_ELEMENT_ID,
        nullable=False,
    )
)
TIMESTAMP_TYPE = pa.timestamp("us", "UTC")

VISIBLE = (
    SystemColumn(PARTITION, 2_000_000_101, "int", pa.int32(), True, "partition of the topic"),
    SystemColumn(OFFSET, 2_000_000_102, "long", pa.int64(), True, "offset of the record in its partition"),
    SystemColumn(TIMESTAMP, 2_000_000_103, "timestamptz", TIMESTAMP_TYPE, False, "time of the record; null: none"),
    SystemColumn(KEY, 2_000_000_104, "binary", pa.binary(), False, "key of the record"),
    SystemColumn(HEADERS, 2_000_000_105, "list", HEADERS_TYPE, True, "headers of the record, in order"),
    SystemColumn(VALUE, 2_000_000_109, "binary", pa.binary(), False, "value of the record; null: a tombstone"),
)
HIDDEN = (
    SystemColumn(FORM, 2_000_000_001, "int", pa.int32(), True, "how the row holds its value"),
    SystemColumn(
        SCHEMA_ID, 2_000_000_002, "int", pa.int32(), False, "id of the schema that the value was written with"
    ),
    SystemColumn(SHAPE, 2_000_000_003, "int", pa.int32(), False, "number of the value's shape among those of its file"),
    SystemColumn(ERROR, 2_000_000_004, "string", pa.string(), False, "how the value breaks its contract"),
)
ALL = VISIBLE + HIDDEN
BY_NAME = {column.name: column for column in ALL}

LEAF_IDS: dict[tuple[str, ...], int] = {
    **{(column.name,): column.field_id for column in ALL if column.name != HEADERS},
    (HEADERS, "list", "element", "key"): HEADER_KEY_ID,
    (HEADERS, "list", "element", "value"): HEADER_VALUE_ID,
}
"""Field ids of Parquet's leaf columns, by path: Iceberg's metrics are keyed by them."""


def arrow_schema(hidden: tuple[str, ...] = ()) -> pa.Schema:
    """The columns of a raw topic's file: the visible ones, then the given hidden ones."""
    columns = VISIBLE + tuple(column for column in HIDDEN if column.name in hidden)
    return pa.schema(
        _with_id(column.name, column.arrow, column.field_id, nullable=not column.required_in_file) for column in columns
    )


def iceberg_fields(columns: tuple[SystemColumn, ...] = VISIBLE) -> list[dict[str, Any]]:
    """The columns as fields of an Iceberg schema, which follow the user's fields."""
    return [
        {
            "id": column.field_id,
            "name": column.name,
            "required": False,
            "type": _headers_type() if column.name == HEADERS else column.iceberg,
            "doc": column.doc,
        }
        for column in columns
    ]


def shown_fields(fields: Sequence[dict[str, Any]], shown: SystemColumns) -> list[dict[str, Any]]:
    """The fields of a schema with or without the visible system columns. A table without other columns has them."""
    system = {column.field_id for column in VISIBLE}
    others = [field for field in fields if field["id"] not in system]
    if others and shown is SystemColumns.HIDDEN:
        return others
    there = {field["id"] for field in fields}
    return [*fields, *(field for field in iceberg_fields() if field["id"] not in there)]


def _headers_type() -> dict[str, Any]:
    return {
        "type": "list",
        "element-id": HEADERS_ELEMENT_ID,
        "element-required": True,
        "element": {
            "type": "struct",
            "fields": [
                {"id": HEADER_KEY_ID, "name": "key", "required": False, "type": "string"},
                {"id": HEADER_VALUE_ID, "name": "value", "required": False, "type": "binary"},
            ],
        },
    }
