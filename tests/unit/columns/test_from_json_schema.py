"""Columns of a JSON Schema."""

import json
from typing import Any

from lakestream.contract.columns.from_json_schema import wanted_columns
from lakestream.contract.columns.json_text import holds_json_text
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.json_schema.format import JsonSchemaFormat


def kinds_of(schema: Any) -> dict[str, str]:
    layout = Layout().merged(wanted_columns(JsonSchemaFormat().parse(json.dumps(schema), [])))
    return {column.keys[0]: "json" if holds_json_text(column) else column.kind for column in layout.columns}


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
        "object": "json",
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
