"""Names of columns in full, as Iceberg's own library finds them."""

from typing import Any

import pytest

from lakestream.catalog.spec.schema.names import check_names, ids_by_name
from lakestream.catalog.spec.values import Json
from lakestream.model.table_errors import InvalidTableChange
from tests.unit.catalog.samples import field, schema


def struct(*fields: Json) -> Json:
    return {"type": "struct", "fields": list(fields)}


def list_of(element: Any) -> Json:
    return {"type": "list", "element-id": 11, "element-required": False, "element": element}


def map_of(value: Any) -> Json:
    return {"type": "map", "key-id": 12, "key": "string", "value-id": 13, "value-required": False, "value": value}


INNER = struct(field(21, "x"))


@pytest.mark.parametrize(
    ("fields", "twice"),
    [
        ([field(1, "a", struct(field(2, "x"), field(3, "x")))], "a.x"),
        ([field(1, "a.x"), field(2, "a", INNER)], "a.x"),
        ([field(1, "s", struct(field(2, "a.x"), field(3, "a", INNER)))], "s.a.x"),
        ([field(1, "l.element"), field(2, "l", list_of("int"))], "l.element"),
        ([field(1, "l.element.x"), field(2, "l", list_of(INNER))], "l.element.x"),
        ([field(1, "m.key"), field(2, "m", map_of("int"))], "m.key"),
        ([field(1, "m.value.x"), field(2, "m", map_of(INNER))], "m.value.x"),
    ],
)
def test_a_name_is_used_once(fields: list[Json], twice: str) -> None:
    with pytest.raises(InvalidTableChange, match=f"'{twice}'"):
        check_names(schema(*fields))


@pytest.mark.parametrize(
    "fields",
    [
        [field(1, "x"), field(2, "a", INNER)],
        [field(1, "a"), field(2, "A")],
        [field(1, "l.x"), field(2, "l", list_of(INNER))],  # only its short name
        [field(1, "l", list_of(struct(field(2, "element")))), field(3, "m", map_of(struct(field(4, "value"))))],
    ],
)
def test_names_that_differ_in_full_may_be_alike(fields: list[Json]) -> None:
    check_names(schema(*fields))


def test_columns_in_lists_and_maps_are_found_by_their_short_names_too() -> None:
    found = ids_by_name(schema(field(1, "l", list_of(INNER)), field(2, "m", map_of(list_of(INNER)))))
    assert found == {
        "l": 1,
        "l.element": 11,
        "l.element.x": 21,
        "l.x": 21,
        "m": 2,
        "m.key": 12,
        "m.value": 13,
        "m.value.element": 11,
        "m.value.element.x": 21,
        "m.value.x": 21,
    }
