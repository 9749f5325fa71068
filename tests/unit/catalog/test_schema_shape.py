"""Schemas that readers can read."""

from typing import Any

import pytest

from lakestream.catalog.spec.schema.shape import check_shape
from lakestream.catalog.spec.values import Json
from lakestream.model.table_errors import InvalidTableChange
from tests.unit.catalog.samples import field, schema

REQUIRED = {"required": True}
STRUCT = {"type": "struct", "fields": [field(2, "b", "long")]}
LIST = {"type": "list", "element-id": 3, "element-required": False, "element": "long"}
MAP = {"type": "map", "key-id": 4, "key": "long", "value-id": 5, "value-required": False, "value": "long"}


@pytest.mark.parametrize(
    ("type", "default"),
    [
        ("boolean", False),
        ("int", 7),
        ("long", 2**40),
        ("double", 7.5),
        ("decimal(9, 2)", "14.20"),
        ("date", "2007-12-03"),
        ("timestamptz", "2007-12-03T10:15:30+00:00"),
        ("timestamp_ns", "2007-12-03T10:15:30.123456789"),
        ("timestamp_ns", "1677-09-21T00:12:43.145224192"),
        ("timestamptz_ns", "2262-04-11T23:47:16.854775807+00:00"),
        ("timestamptz", "9999-12-31T23:59:59.999999Z"),
        ("uuid", "f47ac10b-58cc-4372-a567-0e02b2c3d479"),
        ("fixed[3]", "0a0b0c"),
        ("binary", ""),
        ("string", "two\nlines"),
    ],
)
def test_a_column_may_have_a_default_of_its_type(type: str, default: Any) -> None:
    check_shape(schema(field(1, "a", type, **{"initial-default": default, "write-default": default})))


@pytest.mark.parametrize(
    ("type", "default"),
    [
        ("boolean", 0),
        ("int", True),
        ("int", 2**31),
        ("long", "7"),
        ("double", 7),
        ("decimal(9,2)", "14.2"),
        ("decimal(3,2)", "14.20"),
        ("date", "2007-13-03"),
        ("time", "24:00:00"),
        ("timestamp", "2007-12-03T10:15:30+00:00"),
        ("timestamptz", "2007-12-03T10:15:30+01:00"),
        ("fixed[3]", "0a0b"),
        ("binary", "0"),
        ("string", None),
        ("variant", "x"),
        ("geometry(x)", "y"),
        ("timestamp_ns", "9999-12-03T10:15:30"),
        ("timestamp_ns", "1677-09-21T00:12:43.145224191"),
        ("timestamptz_ns", "2262-04-11T23:47:16.854775808Z"),
        ("timestamptz_ns", "2262-04-11T23:47:17+00:00"),
        (STRUCT, {}),
        (STRUCT, 5),
        (STRUCT, None),
        (LIST, []),
        (MAP, {"keys": [], "values": []}),
    ],
)
@pytest.mark.parametrize("name", ["initial-default", "write-default"])
def test_a_default_that_readers_cannot_read_is_refused(name: str, type: Any, default: Any) -> None:
    with pytest.raises(InvalidTableChange):
        check_shape(schema(field(1, "a", type, **{name: default})))


INSIDE = {"type": "struct", "fields": [field(2, "b", "long", **REQUIRED)]}


@pytest.mark.parametrize("column", [field(2, "a", "uuid", **REQUIRED), field(1, "a", INSIDE, **REQUIRED)])
def test_rows_are_told_apart_by_required_columns(column: Json) -> None:
    check_shape({**schema(column), "identifier-field-ids": [2]})


@pytest.mark.parametrize(
    "column",
    [
        field(2, "a"),
        field(2, "a", "double", **REQUIRED),
        field(2, "a", "variant", **REQUIRED),
        field(1, "a", INSIDE),
        field(1, "a", {"type": "list", "element-id": 2, "element-required": True, "element": "long"}, **REQUIRED),
    ],
)
def test_rows_are_not_told_apart_by_others(column: Json) -> None:
    with pytest.raises(InvalidTableChange):
        check_shape({**schema(column), "identifier-field-ids": [2]})


def test_what_is_always_null_cannot_be_required() -> None:
    check_shape(schema(field(1, "a", "unknown")))
    with pytest.raises(InvalidTableChange):
        check_shape(schema(field(1, "a", "unknown", **REQUIRED)))


@pytest.mark.parametrize(
    "type",
    [
        *("geometry", "geometry(srid:4326)", "geometry( OGC:CRS84 )", "geometry(a,b)"),
        *("geography", "geography(srid:4326)", "geography(srid:4326, karney)", "geography(srid:4326,Spherical )"),
    ],
)
def test_shapes_on_earth_are_said_in_words_that_readers_know(type: str) -> None:
    check_shape(schema(field(1, "a", type)))


@pytest.mark.parametrize(
    "type",
    [
        *("geometry()", "geometry(  )", "geometry(a(b))", "geography()", "geography( )", "geography(,karney)"),
        *("geography(srid:4326, banana)", "geography(srid:4326,)", "geography(a,b,karney)"),
    ],
)
def test_shapes_on_earth_in_other_words_are_refused(type: str) -> None:
    with pytest.raises(InvalidTableChange):
        check_shape(schema(field(1, "a", type)))


def test_what_a_column_is_about_is_text() -> None:
    check_shape(schema(field(1, "a", doc="the key"), field(2, "b", doc=None)))
    with pytest.raises(InvalidTableChange, match="'doc' must be text, not 5"):
        check_shape(schema(field(1, "a", {"type": "struct", "fields": [field(2, "b", doc=5)]})))
