"""What strangers may do to the columns of a topic's table, and what they cannot help doing."""

from typing import Any

import pytest

from lakestream.catalog.spec.values import Json, Metadata
from lakestream.catalog.strangers.topic_columns import columns_problem, system_columns_problem, with_system_columns
from tests.unit.catalog.samples import field, schema

PAIR = schema(field(4, "key", "string", required=True), field(5, "value", "binary"))
HEADERS = field(
    2, "__headers", {"type": "list", "element-id": 3, "element-required": True, "element": PAIR}, doc="of the record"
)
LAST_ID = 100
PROMOTED = [("int", "long"), ("float", "double"), ("decimal(9, 2)", "decimal(12,2)"), ("unknown", "string")]
OTHERWISE = [
    *(("long", "string"), ("long", "int"), ("double", "float"), ("date", "string"), ("string", "binary")),
    *(("decimal(9,2)", "decimal(9,3)"), ("decimal(9,2)", "decimal(8,2)"), ("long", schema(field(101, "a")))),
    (schema(field(7, "a")), {"type": "list", "element-id": 101, "element-required": False, "element": "long"}),
]


def table(*fields: Json) -> Metadata:
    return {"schemas": [{**schema(*fields), "schema-id": 0}], "current-schema-id": 0, "last-column-id": LAST_ID}


def as_duckdb_writes_it(column: Json) -> Json:
    """Without its description, and with every part of a list optional."""
    optional = {**column["type"], "element-required": False}
    return {"id": column["id"], "name": column["name"], "required": column["required"], "type": optional}


def test_system_columns_come_back_in_other_words_and_stay_as_they_are() -> None:
    metadata, mine = table(field(1, "id"), HEADERS), field(LAST_ID + 1, "mine")
    sent = schema(field(1, "id"), as_duckdb_writes_it(HEADERS), mine)
    assert system_columns_problem(metadata, sent) is None and columns_problem(metadata, sent) is None
    other = {"action": "set-current-schema", "schema-id": -1}
    assert with_system_columns(metadata, [{"action": "add-schema", "schema": sent}, other]) == [
        {"action": "add-schema", "schema": schema(field(1, "id"), HEADERS, mine)},
        other,
    ]


@pytest.mark.parametrize(
    "change",
    [
        *({"id": 9}, {"required": True}, {"name": "headers"}, {"type": "string"}),
        {"type": {**HEADERS["type"], "element": "string"}},
        {"type": {**HEADERS["type"], "element": schema(PAIR["fields"][0])}},
    ],
)
def test_a_system_column_keeps_what_it_is(change: Json) -> None:
    problem = system_columns_problem(table(HEADERS), schema({**HEADERS, **change}))
    assert problem is not None and "__headers" in problem


@pytest.mark.parametrize(("before", "after"), PROMOTED)
def test_a_column_may_become_wider(before: str, after: str) -> None:
    assert columns_problem(table(field(1, "a", before)), schema(field(1, "a", after))) is None


@pytest.mark.parametrize(("before", "after"), OTHERWISE)
def test_a_column_becomes_nothing_that_its_files_are_not_read_as(before: Any, after: Any) -> None:
    problem = columns_problem(table(field(1, "a", before)), schema(field(1, "a", after)))
    assert problem is not None and "wider" in problem
    inside = field(1, "s", schema(field(2, "a", before)))
    assert columns_problem(table(inside), schema(field(1, "s", schema(field(2, "a", after))))) is not None


def test_no_column_is_named_like_a_part_of_one_that_may_come() -> None:
    metadata = table(field(1, "a.b", "int"), field(2, "c"))
    assert columns_problem(metadata, schema(field(1, "a.b", "int"), field(2, "d"))) is None, "it had that name before"
    for column in (field(2, "c.d"), field(LAST_ID + 1, "s", schema(field(LAST_ID + 2, "x.y")))):
        problem = columns_problem(metadata, schema(field(1, "a.b", "int"), column))
        assert problem is not None and "dot" in problem


def test_a_column_that_was_dropped_comes_back_as_what_it_was() -> None:
    metadata = table(field(1, "a", "int"), field(2, "b"))
    metadata["schemas"].append({**schema(field(2, "b")), "schema-id": 1})
    metadata["current-schema-id"] = 1
    assert columns_problem(metadata, schema(field(1, "a", "long"), field(2, "b"))) is None
    assert columns_problem(metadata, schema(field(1, "a", "string"), field(2, "b"))) is not None
