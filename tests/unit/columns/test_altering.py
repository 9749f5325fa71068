"""ALTER TABLE edits a schema: each format has a next version that wants just the altered columns, or says why not."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from lakestream.contract.columns import from_avro, from_protobuf
from lakestream.contract.columns.column import live
from lakestream.contract.columns.from_iceberg import columns_of
from lakestream.contract.columns.layout import CannotFollow, Layout
from lakestream.contract.registry.submitted import Submitted, Understood, understood
from lakestream.contract.topic.altering.avro_schema import altered_avro, with_names_as_keys
from lakestream.contract.topic.altering.columns import altered_columns
from lakestream.contract.topic.altering.protobuf_schema import altered_protobuf
from lakestream.contract.topic.declared import declared
from lakestream.contract.topic.value_config import ValueFormat
from lakestream.model.registry import SchemaFormat
from tests.unit.columns.test_declared import array, field, mapping, struct

Json = dict[str, Any]
NEW = 2_000_001_000
BEFORE = [
    field(1, "id", "int"),
    field(2, "gone", "string"),
    field(3, "s", struct(field(4, "x", "int"), field(5, "y", "string"))),
    field(6, "l", array(7, struct(field(8, "a", "int")))),
    field(9, "m", mapping(10, "string", struct(field(12, "q", "long")))),
    field(13, "t", mapping(14, "string", "long")),
]
AFTER = [
    field(3, "place", struct(field(4, "x", "long"), field(NEW + 1, "z", struct(field(NEW + 2, "w", "string"))))),
    field(1, "id", "long", doc="number"),
    field(6, "l", array(7, struct(field(8, "b", "int"), field(NEW + 3, "c", "double")))),
    field(9, "m", mapping(10, "string", struct(field(12, "q", "long"), field(NEW + 4, "r", "boolean")))),
    field(NEW, "at", "timestamptz"),
    field(NEW + 5, "u", mapping(NEW + 6, "string", "long")),
]


def edited(
    before: Sequence[Json], after: Sequence[Json], format: ValueFormat, schema: str | None = None
) -> tuple[Layout, Understood]:
    made = declared("sales", columns_of(before), format)
    assert made.schema is not None
    old = understood(Submitted(format=made.schema.format, text=schema or made.schema.text), [], normalize=False)
    is_avro = format is ValueFormat.AVRO
    columns = altered_columns(made.layout.columns, before, after, by_name=is_avro)
    if is_avro:
        columns = with_names_as_keys(columns)
        text = altered_avro(old.body.text, made.layout.columns, columns)
    else:
        text, columns = (
            (found := altered_protobuf(old.parsed, "", made.layout.columns, columns)).text,
            found.columns,
        )
    return made.layout.with_columns(columns), understood(
        Submitted(format=made.schema.format, text=text), [], normalize=False
    )


@pytest.mark.parametrize("format", [ValueFormat.AVRO, ValueFormat.PROTOBUF])
def test_an_edited_schema_wants_just_the_altered_columns_at_every_depth(format: ValueFormat) -> None:
    layout, schema = edited(BEFORE, AFTER, format)
    assert [column.name for column in live(layout.columns)] == [one["name"] for one in AFTER]
    wanted_of: dict[Any, Any] = {
        SchemaFormat.AVRO: from_avro.wanted_columns,
        SchemaFormat.PROTOBUF: from_protobuf.wanted_columns,
    }
    wanted = wanted_of[schema.body.format](schema.parsed)
    assert layout.merged(wanted) == layout and len(wanted) == len(AFTER)
    assert Layout.from_text(layout.to_text()) == layout
    gone = [part.name for column in layout.columns for part in column.walk() if part.is_dropped]
    assert sorted(gone) == ["gone_dropped", "t_dropped", "y_dropped"]


def test_an_avro_schema_keeps_what_columns_do_not_say() -> None:
    kind = {"type": "enum", "name": "Kind", "symbols": ["A"]}
    text = {
        "type": "record",
        "name": "sales",
        "doc": "of shops",
        "fields": [
            {"name": "id", "type": {"type": "int"}, "default": 7},
            {"name": "nothing", "type": "null"},
            {"name": "kind", "type": kind},
        ],
    }
    before = [field(1, "id", "int"), field(2, "kind", "string")]
    after = [
        field(1, "number", "long"),
        field(2, "kind", "string"),
        field(NEW, "more", struct(field(NEW + 1, "x", "int"))),
    ]
    _, schema = edited(before, after, ValueFormat.AVRO, json.dumps(text))
    found = json.loads(schema.body.text)
    assert found["doc"] == "of shops"
    assert [one["name"] for one in found["fields"]] == ["number", "kind", "more", "nothing"]
    assert found["fields"][0] == {"name": "number", "type": "long", "default": 7, "aliases": ["id"]}
    assert found["fields"][1]["type"] == kind


@pytest.mark.parametrize(
    ("type", "wider"),
    [("int", "long"), ("float", "double"), ("decimal(9, 2)", "decimal(12, 2)")],
)
def test_avro_numbers_become_wider(type: str, wider: str) -> None:
    layout, _ = edited([field(1, "a", type)], [field(1, "a", wider)], ValueFormat.AVRO)
    assert layout.columns[0].kind == wider.replace(" ", "")


def test_a_type_that_the_schema_names_elsewhere_is_not_edited() -> None:
    place = {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "int"}]}
    text = {
        "type": "record",
        "name": "sales",
        "fields": [{"name": "home", "type": place}, {"name": "work", "type": "Place"}],
    }
    before = [field(1, "home", struct(field(2, "x", "int"))), field(3, "work", struct(field(4, "x", "int")))]
    after = [before[0], field(3, "work", struct(field(4, "x", "int"), field(NEW, "y", "int")))]
    with pytest.raises(CannotFollow, match="register the schema's next version"):
        edited(before, after, ValueFormat.AVRO, json.dumps(text))


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ([field(1, "a", "long")], [], "no columns left"),
        ([field(1, "a", "long")], [field(1, "a", "int")], "cannot become int"),
        ([field(1, "a", "long")], [field(1, "a", struct(field(NEW, "x", "int")))], "another kind of column"),
        (
            [field(1, "m", mapping(2, "int", "long"))],
            [field(1, "m", mapping(2, "long", "long"))],
            "the keys of 'm' cannot change",
        ),
        (
            [field(1, "a", "long"), field(2, "b", "long")],
            [field(1, "b", "long"), field(2, "a", "long")],
            "is, or was, the name",
        ),
        ([field(1, "a", "long")], [field(1, "a", "long"), field(NEW, "t", "time")], "no format of values"),
        ([field(1, "a", "long")], [field(1, "a b", "long")], "cannot have this name"),
        ([field(1, "a", "long")], [field(1, "a", "long"), field(NEW, "A", "long")], "differ in more than case"),
    ],
)
def test_columns_that_no_values_could_have_are_refused(before: list[Json], after: list[Json], reason: str) -> None:
    with pytest.raises(CannotFollow, match=reason):
        altered_columns(columns_of(before), before, after, by_name=True)


def test_a_hidden_column_gives_its_place_to_an_added_one_of_its_name_and_type() -> None:
    columns = columns_of([field(1, "a", "long"), field(2, "unseen", "long")])
    shown = [field(1, "a", "long")]
    found = altered_columns(columns, shown, [*shown, field(NEW, "unseen", "long")], by_name=True)
    assert [(one.id, one.keys) for one in found] == [(1, ("a",)), (NEW, ("unseen",))]
    with pytest.raises(CannotFollow, match="has a field 'unseen' of type long already"):
        altered_columns(columns, shown, [*shown, field(NEW, "unseen", "string")], by_name=True)


def test_a_dropped_column_that_comes_back_with_its_schema_is_the_same_again() -> None:
    before = [field(1, "a", "long"), field(2, "b", "long")]
    without = altered_columns(columns_of(before), before, before[:1], by_name=True)
    assert [one.is_dropped for one in without] == [False, True]
    back = with_names_as_keys(altered_columns(without, before[:1], before, by_name=True))
    assert [(one.id, one.name, one.keys) for one in back] == [(1, "a", ("a",)), (2, "b", ("b",))]
