"""Partition and sort fields, and the columns they are made from: what is kept, every reader can bind."""

from typing import Any

import pytest

from lakestream.catalog.spec.values import Json, Metadata
from lakestream.model.table_errors import InvalidTableChange
from tests.unit.catalog.samples import applied, field, schema, table

LIST = {"type": "list", "element-id": 5, "element-required": False, "element": "int"}
MAP = {"type": "map", "key-id": 6, "key": "int", "value-id": 7, "value-required": False, "value": "int"}
STRUCT = {"type": "struct", "fields": [field(8, "x")]}
COLUMNS = (field(1, "id"), field(2, "l", LIST), field(3, "m", MAP), field(4, "s", STRUCT), field(9, "v", "variant"))
DAY = field(10, "day", "date")
CURRENT: list[Json] = [{"action": "set-current-schema", "schema-id": -1}]


def made_by(name: str, source: int, transform: str = "identity", **more: Any) -> Json:
    return {"source-id": source, "name": name, "transform": transform, **more}


def sorted_by(source: int, transform: str = "identity") -> Json:
    return {"source-id": source, "transform": transform, "direction": "asc", "null-order": "nulls-last"}


def with_schema(*columns: Json) -> list[Json]:
    return [{"action": "add-schema", "schema": schema(*columns)}, *CURRENT]


def with_spec(*fields: Json, default: bool = True) -> list[Json]:
    made: Json = {"action": "set-default-spec", "spec-id": -1}
    return [{"action": "add-spec", "spec": {"fields": list(fields)}}, *([made] if default else [])]


def with_order(*fields: Json) -> list[Json]:
    made = {"action": "set-default-sort-order", "sort-order-id": -1}
    return [{"action": "add-sort-order", "sort-order": {"fields": list(fields)}}, made]


def wide(*updates: Json) -> Metadata:
    return applied(table(format_version=3), *with_schema(*COLUMNS, DAY), *updates)


@pytest.mark.parametrize(
    "partition",
    [
        made_by("id", 1),
        made_by("id", 1, "bucket[4]"),
        made_by("ID_of_another_case", 1),
        made_by("x", 8),
        made_by("s.x", 8),
        made_by("p", 1, **{"source-ids": [1]}),
        made_by("p", 5, "void"),
        made_by("p", 4, "void"),
        made_by("p", 1, "zorder"),
    ],
)
def test_a_partition_field_is_made_from_a_column_and_may_have_its_name(partition: Json) -> None:
    assert wide(*with_spec(partition))["partition-specs"][1]["fields"][0]["field-id"] == 1000


@pytest.mark.parametrize("default", [True, False])
@pytest.mark.parametrize(
    "partition",
    [
        made_by("s", 1),
        made_by("s", 1, "void"),
        made_by("s.x", 1),
        made_by("l.element", 1),
        made_by("p", 5),
        made_by("p", 6),
        made_by("p", 7),
        made_by("p", 9),
        {"source-ids": [1], "name": "p", "transform": "bucket[4]"},
        made_by("p", 1, **{"source-ids": [1, 8]}),
        made_by("p", 1, **{"source-ids": [8]}),
        made_by("p", 2**40),
    ],
)
def test_a_partition_field_that_readers_cannot_bind_is_refused(partition: Json, default: bool) -> None:
    with pytest.raises(InvalidTableChange):
        wide(*with_spec(partition, default=default))


@pytest.mark.parametrize("name", ["p", "l.element"])
@pytest.mark.parametrize("default", [True, False])
def test_no_column_takes_the_name_of_a_partition_field_not_even_of_an_earlier_one(name: str, default: bool) -> None:
    parted = applied(table(), *with_spec(made_by(name, 1), default=default))
    column = field(3, "p") if name == "p" else field(4, "l", LIST)
    with pytest.raises(InvalidTableChange, match=f"'{name}'.*rename one of them"):
        applied(parted, *with_schema(field(1, "id"), column))
    applied(parted, *with_schema(field(1, name)))  # its own may


def test_a_new_table_has_no_partition_field_named_like_another_column() -> None:
    with pytest.raises(InvalidTableChange, match="'name'"):
        table(**{"partition-spec": {"fields": [made_by("name", 1)]}})


def test_the_columns_of_an_earlier_spec_may_go_but_become_no_other_kind() -> None:
    parted = wide(*with_spec(made_by("p", 10, "month")), {"action": "set-default-spec", "spec-id": 0})
    applied(parted, *with_schema(*COLUMNS))
    with pytest.raises(InvalidTableChange, match="month"):
        applied(parted, *with_schema(*COLUMNS, {**DAY, "type": "string"}))


@pytest.mark.parametrize("source", [1, 5, 8])
@pytest.mark.parametrize("transform", ["identity", "void"])
def test_a_table_is_sorted_by_single_values(source: int, transform: str) -> None:
    assert wide(*with_order(sorted_by(source, transform)))["default-sort-order-id"] == 1


@pytest.mark.parametrize("source", [2, 3, 4, 9, 11])
@pytest.mark.parametrize("transform", ["identity", "void"])
def test_a_table_is_not_sorted_by_others(source: int, transform: str) -> None:
    with pytest.raises(InvalidTableChange):
        wide(*with_order(sorted_by(source, transform)))


def test_what_a_table_is_sorted_by_stays_even_where_nothing_of_it_is_used() -> None:
    ordered = wide(*with_order(sorted_by(10, "void")))
    with pytest.raises(InvalidTableChange, match="sort order needs column 10"):
        applied(ordered, *with_schema(*COLUMNS))
