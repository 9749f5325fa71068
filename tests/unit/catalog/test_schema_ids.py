"""Fresh field ids: in the order of Iceberg's own library."""

import pytest

from lakestream.catalog.spec.schema.ids import field_ids, with_fresh_ids
from lakestream.model.table_errors import InvalidTableChange
from tests.unit.catalog.samples import field, schema


def test_fields_of_a_struct_are_numbered_before_what_is_inside_them() -> None:
    address = {"type": "struct", "fields": [field(31, "street", "string"), field(32, "city", "string")]}
    tags = {"type": "list", "element-id": 41, "element": "string", "element-required": False}
    ages = {"type": "map", "key-id": 51, "key": "string", "value-id": 52, "value": address, "value-required": False}
    ages["value"] = {"type": "struct", "fields": [field(53, "n", "int")]}
    asked = schema(field(10, "id"), field(30, "address", address), field(40, "tags", tags), field(50, "ages", ages))
    numbered, fresh_of = with_fresh_ids({**asked, "identifier-field-ids": [10]})
    assert fresh_of == {10: 1, 30: 2, 40: 3, 50: 4, 31: 5, 32: 6, 41: 7, 51: 8, 52: 9, 53: 10}
    assert numbered["identifier-field-ids"] == [1]
    assert [one["id"] for one in numbered["fields"]] == [1, 2, 3, 4]
    assert numbered["fields"][3]["type"]["value"]["fields"][0]["id"] == 10


def test_what_the_schema_says_besides_ids_survives() -> None:
    numbered, _ = with_fresh_ids(schema(field(9, "id", doc="the key", **{"initial-default": 7, "future": True})))
    assert numbered["fields"] == [field(1, "id", doc="the key", **{"initial-default": 7, "future": True})]


def test_all_ids_are_found() -> None:
    nested = {"type": "list", "element-id": 3, "element": {"type": "struct", "fields": [field(4, "x")]}}
    assert sorted(field_ids(schema(field(1, "a"), field(2, "b", nested)))) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "broken",
    [
        schema(field(1, "a"), field(1, "b")),
        schema({"id": 1, "name": "a", "type": {"type": "set"}}),
        schema({"name": "a", "type": "int"}),
        {"type": "struct"},
        {"type": "struct", "fields": ["a"]},
    ],
)
def test_a_broken_schema_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(InvalidTableChange):
        field_ids(broken)


def test_an_identifier_field_must_exist() -> None:
    with pytest.raises(InvalidTableChange):
        with_fresh_ids({**schema(field(1, "a")), "identifier-field-ids": [2]})
