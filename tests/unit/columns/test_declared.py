"""Columns that CREATE TABLE declares: each format has a schema that wants just these columns, or says why not."""

from typing import Any

import pytest

from lakestream.contract.columns import from_avro, from_protobuf
from lakestream.contract.columns.from_iceberg import columns_of
from lakestream.contract.columns.iceberg import iceberg_field
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.registry.submitted import understood
from lakestream.contract.topic.declared import declared
from lakestream.contract.topic.value_config import ValueFormat

Json = dict[str, Any]


def field(id: int, name: str, type: Any, **more: Any) -> Json:
    return {"id": id, "name": name, "required": False, "type": type, **more}


def array(id: int, element: Any) -> Json:
    return {"type": "list", "element-id": id, "element-required": False, "element": element}


def struct(*fields: Json) -> Json:
    return {"type": "struct", "fields": list(fields)}


def mapping(id: int, key: str, value: Any) -> Json:
    ids = {"key-id": id, "value-id": id + 1}
    return {"type": "map", **ids, "key": key, "value-required": False, "value": value}


EVERYWHERE = [
    field(1, "a", "boolean"),
    field(2, "b", "int"),
    field(3, "c", "long", doc="numbers"),
    field(4, "d", "double"),
    field(5, "e", "string"),
    field(6, "s", struct(field(10, "x", "long"), field(11, "y", struct(field(12, "z", "string"))))),
    field(7, "l", array(13, "long")),
    field(8, "o", array(14, struct(field(15, "x", "string"), field(16, "l", array(17, "double"))))),
]
BINARY = [field(20, "f", "float"), field(21, "g", "binary"), field(22, "t", "timestamptz")]
MAPS = [
    field(23, "m", mapping(24, "string", "long")),
    field(26, "n", mapping(27, "string", struct(field(29, "x", "int")))),
]
AVRO = [
    field(30, "day", "date"),
    field(31, "local", "timestamp"),
    field(32, "p", "decimal(12, 3)"),
    field(33, "u", "uuid"),
    field(34, "h", "fixed[7]"),
    field(35, "ll", array(36, array(37, mapping(38, "string", "date")))),
]


@pytest.mark.parametrize(
    ("format", "fields"),
    [
        (ValueFormat.JSON, EVERYWHERE),
        (ValueFormat.PROTOBUF, [*EVERYWHERE, *BINARY, *MAPS]),
        (ValueFormat.AVRO, [*EVERYWHERE, *BINARY, *MAPS, *AVRO]),
    ],
)
def test_a_schema_wants_just_the_declared_columns(format: ValueFormat, fields: list[Json]) -> None:
    made = declared("row", columns_of(fields), format)
    shown = [iceberg_field(column) for column in made.layout.columns]
    assert [one["name"] for one in shown] == [one["name"] for one in fields]
    assert [one["id"] for one in shown] == [one["id"] for one in fields]
    assert made.layout.next_id > max(part.id for column in made.layout.columns for part in column.walk())
    if made.schema is None:
        return
    parsed = understood(made.schema, [], normalize=False).parsed
    wanted_of = {ValueFormat.AVRO: from_avro.wanted_columns, ValueFormat.PROTOBUF: from_protobuf.wanted_columns}
    wanted = wanted_of[format](parsed)  # type: ignore[operator]
    assert made.layout.merged(wanted) == made.layout
    assert len(wanted) == len(fields)


@pytest.mark.parametrize(
    ("format", "one", "reason"),
    [
        (ValueFormat.JSON, field(1, "t", "timestamptz"), "avro"),
        (ValueFormat.JSON, field(1, "l", array(2, "int")), "array of int"),
        (ValueFormat.JSON, field(1, "s", struct(field(2, "p", "decimal(9,2)"))), "'s.p' is decimal"),
        (ValueFormat.JSON, field(1, "m", mapping(2, "string", "long")), "is map"),
        (ValueFormat.PROTOBUF, field(1, "d", "date"), "no type"),
        (ValueFormat.PROTOBUF, field(1, "l", array(2, array(3, "long"))), "list within a list"),
        (ValueFormat.PROTOBUF, field(1, "m", mapping(2, "double", "long")), "no such map"),
        (ValueFormat.PROTOBUF, field(1, "_x", "long"), "begin its name with a letter"),
        (ValueFormat.AVRO, field(1, "m", mapping(2, "long", "long")), "strings"),
        (ValueFormat.AVRO, field(1, "größe", "long"), "letters, digits"),
        (ValueFormat.AVRO, field(1, "h", "fixed[300]"), "make it binary"),
        (ValueFormat.AVRO, field(1, "t", "time"), "no format of values"),
        (ValueFormat.AVRO, field(1, "v", "variant"), "no format of values"),
        (ValueFormat.AVRO, field(1, "n", "timestamp_ns"), "no format of values"),
        (ValueFormat.AVRO, field(1, "s", struct()), "without fields"),
        (ValueFormat.STRING, field(1, "s", "string"), "json, avro, protobuf"),
    ],
)
def test_a_column_that_a_format_cannot_carry_is_refused(format: ValueFormat, one: Json, reason: str) -> None:
    with pytest.raises(CannotFollow, match=reason):
        declared("row", columns_of([one]), format)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ([], "no columns"),
        ([field(1, "a", "long") | {"required": True}], "NOT NULL"),
        ([field(1, "a", "long", **{"initial-default": 5})], "default"),
        ([field(1, "__offset", "long")], "do not begin with '__'"),
        ([field(1, "a.b", "long")], "letters, digits"),
        ([field(1, "a", "long"), field(2, "A", "long")], "more than case"),
        ([field(2_000_000_101, "a", "long")], "field id"),
    ],
)
def test_a_column_that_no_topic_has_is_refused(fields: list[Json], reason: str) -> None:
    with pytest.raises(CannotFollow, match=reason):
        columns_of(fields)
