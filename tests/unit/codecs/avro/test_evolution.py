"""Tables grow beyond a writer's schema; what it wrote is read and written as before."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.contract.columns.layout import CannotFollow
from tests.unit.codecs.avro.samples import Json, codec_of, few, layout_of, samples, takes_bytes, written

WIDER = {"int": "long", "float": "double"}


def widened(schema: Json) -> Json:
    match schema:
        case str():
            return WIDER.get(schema, schema)
        case list():
            return [widened(one) for one in schema]
        case {"logicalType": "decimal", "precision": precision, "size": 20}:
            return {**schema, "precision": precision + 10}
        case {"logicalType": _}:
            return schema
        case {"type": "record", "fields": fields} if takes_bytes(schema):  # others are no structs
            more = {"name": "more", "type": ["null", "string"]}
            return {**schema, "fields": [more, *({**one, "type": widened(one["type"])} for one in reversed(fields))]}
        case {"type": "array", "items": items}:
            return {**schema, "items": widened(items)}
        case {"type": "map", "values": values}:
            return {**schema, "values": widened(values)}
    return schema


def renamed(schema: Json, names: set[str]) -> Json:
    fields = [
        {**one, "name": f"new_{one['name']}", "aliases": [one["name"]]} if one["name"] in names else one
        for one in schema["fields"]
    ]
    return {**schema, "fields": fields}


@few
@given(samples(record=True), st.data())
def test_an_old_writer_decodes_and_encodes_after_columns_were_added_renamed_and_widened(
    sample: tuple[Any, list[Any]], data: st.DataObject
) -> None:
    schema, values = sample
    names = data.draw(st.sets(st.sampled_from([field["name"] for field in schema["fields"]])))
    layout = layout_of(schema, renamed(widened(schema), names))
    rows = written(schema, values)
    codec = codec_of(schema, layout)
    decoded = codec.decode(rows)
    decoded.columns.validate(full=True)
    assert decoded.errors.rows == []
    assert decoded.exact.all()
    assert codec.encode(decoded.columns, None).equals(rows)


def record(**types: Any) -> Any:
    return {"type": "record", "name": "R", "fields": [{"name": name, "type": type} for name, type in types.items()]}


def test_values_of_old_writers_are_in_the_wider_columns() -> None:
    old = record(a="int", b="float", c={"type": "array", "items": "int"})
    layout = layout_of(old, record(a="long", b="double", c={"type": "array", "items": "long"}, d="string"))
    decoded = codec_of(old, layout).decode(written(old, [{"a": -1, "b": 0.5, "c": [1, 2]}]))
    assert decoded.columns.to_pylist() == [{"a": -1, "b": 0.5, "c": [1, 2], "d": None}]
    assert decoded.columns.schema.field("a").type == pa.int64()


def test_a_renamed_column_has_the_values_of_both_names() -> None:
    old = record(price="int")
    new = {"type": "record", "name": "R", "fields": [{"name": "amount", "type": "int", "aliases": ["price"]}]}
    layout = layout_of(old, new)
    for schema, name in ((old, "price"), (new, "amount")):
        decoded = codec_of(schema, layout).decode(written(schema, [{name: 5}]))
        assert decoded.columns.to_pylist() == [{"amount": 5}]
        assert decoded.exact.all()


@pytest.mark.parametrize(
    ("writer", "table"),
    [
        (record(a="int", b="string"), record(a="int")),
        (record(a="int", b="string"), record(a="int", b="int")),
        (record(a="int", b="long"), record(a="int", b="int")),
        (record(a="int", b=["int", "string"]), record(a="int", b="int")),
        (record(a="int", b={"type": "array", "items": "string"}), record(a="int", b="string")),
    ],
)
def test_a_field_without_a_column_that_holds_it_leaves_the_others_readable(writer: Any, table: Any) -> None:
    values = {"string": "x", "long": 2**40}
    kind = writer["fields"][1]["type"]
    value = values[kind] if isinstance(kind, str) else ["x"] if isinstance(kind, dict) else 5
    codec = codec_of(writer, layout_of(table))
    decoded = codec.decode(written(writer, [{"a": 3, "b": value}]))
    assert decoded.columns.to_pylist() == [{"a": 3} | ({"b": None} if len(table["fields"]) > 1 else {})]
    assert decoded.errors.rows == []
    assert not decoded.exact.any()
    with pytest.raises(ValueError, match="use the bytes that were kept"):
        codec.encode(decoded.columns, None)


def test_a_union_that_gains_a_branch_keeps_its_column() -> None:
    old, new = record(u=["null", "int", "string"]), record(u=["null", "boolean", "string", "int"])
    rows = written(old, [{"u": None}, {"u": 5}, {"u": "x"}])
    codec = codec_of(old, layout_of(old, new))
    decoded = codec.decode(rows)
    assert [row["u"] for row in decoded.columns.to_pylist()] == [
        None,
        {"int": 5, "string": None, "boolean": None},
        {"int": None, "string": "x", "boolean": None},
    ]
    assert codec.encode(decoded.columns, None).equals(rows)


def test_a_type_that_became_a_union_of_several_cannot_be_followed() -> None:
    with pytest.raises(CannotFollow, match="column 'u' is int and cannot become struct"):
        layout_of(record(u="int"), record(u=["int", "string"]))
