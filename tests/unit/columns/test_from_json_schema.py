"""Columns of a JSON Schema."""

import json
from typing import Any

import pytest

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.from_json_schema import wanted_columns
from lakestream.contract.columns.json_text import holds_json_text, wanted_json_text
from lakestream.contract.columns.layout import CannotFollow, Layout
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.json_schema.format import JsonSchemaFormat


def wanted_by(schema: Any) -> tuple[Wanted, ...]:
    return wanted_columns(JsonSchemaFormat().parse(json.dumps(schema), []))


def kinds_of(schema: Any) -> dict[str, Any]:
    return {column.keys[0]: kind_of(column) for column in Layout().merged(wanted_by(schema)).columns}


def kind_of(column: Column) -> Any:
    if column.kind == "struct":
        return {child.keys[0]: kind_of(child) for child in column.children}
    if column.kind == "list":
        return [kind_of(column.children[0])]
    return "json" if holds_json_text(column) else column.kind


def test_types_become_kinds() -> None:
    properties = {
        "whole": {"type": "integer"},
        "part": {"type": "number"},
        "either": {"type": ["integer", "number"]},
        "flag": {"type": ["null", "boolean"]},
        "text": {"type": "string", "format": "date-time"},
        "listed": {"enum": ["a", "b", None]},
        "fixed": {"const": 7},
        "object": {"type": "object", "properties": {"a": {"type": "string"}}},
        "array": {"type": "array"},
        "anything": {},
        "true": True,
        "mixed": {"type": ["string", "integer"]},
        "maybe": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
        "referred": {"$ref": "#/definitions/money"},
        "nothing": {"type": "null"},
    }
    schema = {"type": "object", "properties": properties, "definitions": {"money": {"type": "number"}}}
    assert kinds_of(schema) == {
        "whole": "long",
        "part": "double",
        "either": "double",
        "flag": "boolean",
        "text": "string",
        "listed": "string",
        "fixed": "long",
        "object": {"a": "string"},
        "array": "json",
        "anything": "json",
        "true": "json",
        "mixed": "json",
        "maybe": "long",
        "referred": "double",
        "nothing": "json",
    }


def test_parts_that_describe_one_object_count_together() -> None:
    schema = {
        "allOf": [{"$ref": "#/definitions/base"}, {"properties": {"b": {"type": "integer"}}}],
        "oneOf": [{"properties": {"c": {"type": "string"}}}, {"properties": {"c": {"type": "integer"}}}],
        "definitions": {"base": {"properties": {"a": {"type": "string"}}}},
    }
    assert kinds_of(schema) == {"a": "string", "b": "long", "c": "json"}


def test_descriptions_become_docs_and_json_text_stays_known() -> None:
    schema = {"properties": {"a": {"type": "string", "description": "the name"}, "b": {"description": "JSON textual"}}}
    layout = Layout().merged(wanted_columns(JsonSchemaFormat().parse(json.dumps(schema), [])))
    assert [column.doc for column in layout.columns] == ["the name", "JSON text: JSON textual"]
    assert [holds_json_text(column) for column in layout.columns] == [False, True]


def test_a_schema_that_contains_itself_ends() -> None:
    schema = {"properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}, "anyOf": [{"properties": {}}]}
    assert kinds_of(schema) == {"next": "json", "n": "long"}


def test_true_allows_everything_and_names_nothing() -> None:
    assert kinds_of(True) == {}


def test_objects_become_structs_and_arrays_of_one_kind_lists() -> None:
    address = {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"$ref": "#/$defs/zip"}}}
    properties = {
        "home": {"type": ["object", "null"], "properties": {"address": address, "since": {"type": "integer"}}},
        "maybe": {"oneOf": [{"type": "null"}, address]},
        "both": {"type": "object", "allOf": [address, {"properties": {"more": {"type": "boolean"}}}]},
        "tags": {"type": "array", "items": {"type": ["string", "null"]}},
        "marks": {"type": "array", "items": {"$ref": "#/$defs/zip"}, "maxItems": 3},
        "pairs": {"type": "array", "items": [{"type": "string"}, {"type": "string"}]},
        "lines": {"type": "array", "items": address},
        "by_id": {"type": "object", "additionalProperties": {"type": "string"}},
        "object_or_text": {"type": ["object", "string"], "properties": {"a": {"type": "string"}}},
    }
    assert kinds_of({"properties": properties, "$defs": {"zip": {"type": "integer"}}}) == {
        "home": {"address": {"city": "string", "zip": "long"}, "since": "long"},
        "maybe": {"city": "string", "zip": "long"},
        "both": {"city": "string", "zip": "long", "more": "boolean"},
        "tags": ["string"],
        "marks": ["long"],
        "pairs": "json",
        "lines": [{"city": "string", "zip": "long"}],
        "by_id": "json",
        "object_or_text": "json",
    }


def test_an_object_that_contains_itself_is_text_inside_of_itself() -> None:
    node = {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/definitions/node"}}}
    schema = {"properties": {"first": {"$ref": "#/definitions/node"}}, "definitions": {"node": node}}
    assert kinds_of(schema) == {"first": {"n": "long", "next": "json"}}


def test_what_is_too_deep_or_too_much_is_text() -> None:
    deep: dict[str, Any] = {"type": "integer"}
    for _ in range(30):
        deep = {"type": "object", "properties": {"in": deep}}
    found, depth = kinds_of({"properties": {"in": deep}})["in"], 0
    while isinstance(found, dict):
        found, depth = found["in"], depth + 1
    assert (found, depth) == ("json", 8)
    doubling: dict[str, Any] = {f"l{n}": {"type": "object", "properties": {}} for n in range(20)}
    for n in range(19):
        doubling[f"l{n}"]["properties"] = {side: {"$ref": f"#/definitions/l{n + 1}"} for side in ("a", "b")}
    doubling["l19"]["properties"] = {"x": {"type": "integer"}}
    layout = Layout().merged(wanted_by({"properties": {"top": {"$ref": "#/definitions/l0"}}, "definitions": doubling}))
    assert sum(1 for column in layout.columns for _ in column.walk()) <= 1_000


def test_a_table_that_has_text_for_an_object_or_an_array_keeps_it() -> None:
    parts = {"properties": {"o": {"type": "object", "properties": {"a": {"type": "string"}}}}}
    parts["properties"]["l"] = {"type": "array", "items": {"type": "string"}}
    before = Layout().merged([wanted_json_text("o"), wanted_json_text("l")])
    assert before.merged(wanted_by(parts)) == before


def test_an_object_that_may_be_something_else_from_now_on_cannot_be_followed() -> None:
    layout = Layout().merged(
        wanted_by({"properties": {"o": {"type": "object", "properties": {"a": {"type": "string"}}}}})
    )
    with pytest.raises(CannotFollow, match="column 'o' is struct and cannot become string"):
        layout.merged(wanted_by({"properties": {"o": {"type": ["object", "string"]}}}))
    without_properties = wanted_by({"properties": {"o": {"type": "object"}}})
    assert layout.merged(without_properties) == layout
    grown = layout.merged(
        wanted_by({"properties": {"o": {"type": "object", "properties": {"b": {"type": "integer"}}}}})
    )
    assert [child.name for child in grown.columns[0].children] == ["a", "b"]
