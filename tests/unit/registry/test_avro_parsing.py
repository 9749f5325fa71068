"""Avro schemas: what is one, what is not and where, and when two are the same."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from lakestream.contract.registry.avro.format import AvroFormat
from lakestream.contract.registry.parsed import Referred
from lakestream.model.registry_errors import InvalidSchema, SchemaTooLarge
from tests.unit.registry.avro_pairs import schemas

AVRO = AvroFormat()


def canonical(schema: Any) -> str:
    return AVRO.canonical(AVRO.parse(schema if isinstance(schema, str) else json.dumps(schema), []))


def record(*fields: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields), **more}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("nope", "no JSON"),
        ('{"type": NaN}', "NaN"),
        ("7", "/: a type is"),
        ('"Unknown"', "'Unknown' is not defined"),
        ({"type": "record", "name": "R"}, "'fields' is missing"),
        ({"type": "record", "fields": []}, "'name' is missing"),
        (record({"name": "a"}), "/fields/0: 'type' is missing"),
        (record({"name": "1a", "type": "int"}), "/fields/0: '1a' is no name"),
        (
            record({"name": "a", "type": "int"}, {"name": "a", "type": "int"}),
            "/fields/1: the record has two fields 'a'",
        ),
        (record({"name": "a", "type": record()}), "/fields/0/type: the type 'R' is defined twice"),
        (record({"name": "a", "type": {"type": {"type": "int"}}}), "write the inner type without the outer one"),
        (record(name="int"), "name of a primitive"),
        (record(name="a..b"), "is no name"),
        (record({"name": "a", "type": "int", "default": "x"}), "'x' is no int"),
        (record({"name": "a", "type": "int", "default": 2**31}), "is no int"),
        (record({"name": "a", "type": "int", "default": True}), "True is no int"),
        (record({"name": "a", "type": ["string", "null"], "default": None}), "put the branch that it fits first"),
        (record({"name": "a", "type": "bytes", "default": "€"}), "is no bytes"),
        (record({"name": "a", "type": {"type": "array", "items": "int"}, "default": [1, "x"]}), "'x' is no int"),
        ({"type": "enum", "name": "E", "symbols": ["A", "A"]}, "a symbol twice"),
        ({"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}, "'B' is not a symbol"),
        ({"type": "fixed", "name": "F", "size": -1}, "whole number of bytes"),
        (["int", "int"], "/1: the union has int twice"),
        (["int", ["null"]], "/1: a union cannot hold a union"),
        ([], "at least one branch"),
        ({"type": "array"}, "'items' is missing"),
        ({"type": "map", "values": 3}, "/values: a type is"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(schema: Any, said: str) -> None:
    with pytest.raises(InvalidSchema) as refused:
        canonical(schema)
    assert said in str(refused.value)


def test_deep_and_giant_schemas_are_refused_not_suffered() -> None:
    with pytest.raises(SchemaTooLarge, match="nested deeper"):
        canonical('{"type":"array","items":' * 20_000 + '"int"' + "}" * 20_000)
    with pytest.raises(SchemaTooLarge):
        canonical("[" * 150 + '"int"' + "]" * 150)
    with pytest.raises(SchemaTooLarge, match="more than"):
        canonical(record(*({"name": f"f{n}", "type": "int"} for n in range(60_000))))


def test_spacing_and_order_of_attributes_do_not_matter() -> None:
    one = '{"name": "R", "type": "record", "namespace": "x", "fields": [{"type": {"type": "int"}, "name": "a"}]}'
    other = '{"type":"record","namespace":"x","name":"R","fields":[{"name":"a","type":"int"}]}'
    assert canonical(one) == canonical(other)
    assert json.loads(canonical(one))["fields"] == [{"name": "a", "type": "int"}]


def test_documentation_and_properties_are_kept_and_tell_schemas_apart() -> None:
    field = {"name": "a", "type": {"type": "string", "connect.name": "x"}, "doc": "why", "order": "ignore"}
    assert json.loads(canonical(record(field, doc="R's"))) == record(field, doc="R's")
    assert canonical(record(field)) != canonical(record({**field, "doc": "because"}))


def test_normalizing_makes_names_full_and_orders_attributes() -> None:
    def normalized(schema: Any) -> str:
        return AVRO.normalized(AVRO.parse(json.dumps(schema), []))

    spelled = record({"name": "a", "type": "int", "z": 1, "b": 2}, namespace="x")
    full = {"fields": [{"b": 2, "z": 1, "name": "a", "type": "int"}], "name": "x.R", "type": "record"}
    assert normalized(spelled) == normalized(full)
    assert canonical(spelled) != canonical(full)


def test_a_reference_defines_names_that_the_schema_uses() -> None:
    line = Referred("x.Line", json.dumps({"type": "record", "name": "Line", "namespace": "x", "fields": []}))
    order = record({"name": "a", "type": "x.Line"}, {"name": "b", "type": ["null", "x.Line"]})
    with pytest.raises(InvalidSchema, match=r"'x\.Line' is not defined"):
        AVRO.parse(json.dumps(order), [])
    parsed = AVRO.parse(json.dumps(order), [line])
    assert json.loads(AVRO.canonical(parsed)) == order
    resolved = json.loads(AVRO.written(parsed, "resolved") or "")
    assert resolved["fields"][0]["type"]["name"] == "Line"
    assert resolved["fields"][1]["type"] == ["null", "x.Line"]
    assert AVRO.written(parsed, "serialized") is None


def test_names_are_looked_for_in_the_namespace_around_them() -> None:
    inner = {"type": "record", "name": "In", "fields": [{"name": "me", "type": ["null", "In", "R"]}]}
    parsed = json.loads(canonical(record({"name": "a", "type": inner}, namespace="x")))
    assert parsed["fields"][0]["type"]["fields"][0]["type"] == ["null", "In", "R"]


@settings(max_examples=150, deadline=None)
@given(schemas())
def test_the_canonical_form_is_a_fixed_point(schema: Any) -> None:
    once = canonical(json.dumps(schema))
    assert canonical(once) == once
    assert AVRO.normalized(AVRO.parse(once, [])) == AVRO.normalized(AVRO.parse(json.dumps(schema), []))
