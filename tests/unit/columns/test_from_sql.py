"""Columns in one line of SQL become fields of a schema, or a sentence that says where they cannot be read."""

import pytest

from lakestream.contract.columns.from_iceberg import DEPTH_MAX, columns_of
from lakestream.contract.columns.from_sql import fields_of
from lakestream.contract.columns.layout import CannotFollow


def test_simple_types_have_the_names_of_several_engines() -> None:
    simple = 'id BIGINT, n int, "two words" varchar, at timestamp, seen timestamptz, `raw` bytea'
    found = [(field["name"], field["type"]) for field in fields_of(f"{simple}, price decimal(9, 2), h fixed[16]")]
    assert found == [
        ("id", "long"),
        ("n", "int"),
        ("two words", "string"),
        ("at", "timestamp"),
        ("seen", "timestamptz"),
        ("raw", "binary"),
        ("price", "decimal(9,2)"),
        ("h", "fixed[16]"),
    ]


def test_nested_types_have_ids_of_their_own() -> None:
    fields = fields_of("a struct<x: int, y array<struct<z: string>>>, m map<string, array<double>>")
    ids = [part.id for column in columns_of(fields) for part in column.walk()]
    assert len(set(ids)) == len(ids) == 9


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a column's name should stand where the end is"),
        ("id", "a type should stand where the end is"),
        ("id bigint,", "a column's name should stand where the end is"),
        ("id bigint sku string", "a comma should stand where 'sku' is"),
        ("id number", "there is no type 'number'"),
        ("id bigint NOT NULL", "a comma should stand where 'NOT' is"),
        ("tags array", "'<' should stand where the end is"),
        ("tags array<string", "'>' should stand where the end is"),
        ("p decimal(9)", "',' should stand where '\\)' is"),
        ("p decimal(a, b)", "a number should stand where 'a' is"),
        ("id bigint; DROP TABLE x", "cannot be read from '; DROP TABLE x' on"),
        (f"deep {'array<' * DEPTH_MAX}int{'>' * DEPTH_MAX}", "nested more than"),
    ],
)
def test_what_cannot_be_read_is_said_with_an_example(text: str, reason: str) -> None:
    with pytest.raises(CannotFollow, match=reason):
        fields_of(text)
