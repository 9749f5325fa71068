"""Values are held against every keyword of a JSON Schema, and no schema or value makes that take long."""

import asyncio
import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator  # type: ignore[import-untyped]

from lakestream.contract.codecs.codec import Errors, Writer
from lakestream.contract.codecs.json.codec import CODEC_VERSION
from lakestream.contract.columns.from_json_schema import wanted_columns
from lakestream.contract.registry.json_schema.extent import extent_of
from lakestream.contract.registry.json_schema.format import JsonSchemaFormat
from lakestream.contract.registry.parsed import Referred
from lakestream.contract.topic.registered import RegisteredWriter
from lakestream.contract.values.checking.json_keywords import REASONS_MAX, CannotBeHeld, JsonKeywords
from lakestream.contract.values.checking.readers import Readers
from lakestream.world.threads import InlineThreads
from tests.unit.registry.test_json_schema import SCHEMAS, VALUES

DRAFT4, DRAFT2020 = "http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2020-12/schema"


def held(schema: Any, *values: Any, referred: list[Referred] | None = None) -> dict[int, str]:
    """By the number of the value: what is wrong with it."""
    keywords = JsonKeywords(JsonSchemaFormat().parse(json.dumps(schema), referred or []))
    texts = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    found = keywords.problems(pa.array(texts, pa.binary()), Errors(), None)
    return dict(zip(found.rows, found.reasons, strict=True))


def of(**keywords: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": keywords}}


@pytest.mark.parametrize(
    ("schema", "good", "bad", "reason"),
    [
        ({"required": ["a"]}, {"a": 1}, {}, 'required at /: "a" is a required property'),
        (of(enum=["x", "y"]), {"a": "x"}, {"a": "z"}, "enum at /a: "),
        (of(const=5), {"a": 5}, {"a": 6}, "const at /a: "),
        (of(minimum=3), {"a": 3}, {"a": 2}, "minimum at /a: 2 is less than the minimum of 3"),
        (of(exclusiveMaximum=3), {"a": 2.9}, {"a": 3}, "exclusiveMaximum at /a: "),
        (of(multipleOf=0.01), {"a": 19.99}, {"a": 0.005}, "multipleOf at /a: "),
        (of(maxLength=2), {"a": "öö"}, {"a": "ööö"}, "maxLength at /a: "),
        (of(pattern="^[A-Z]{2}$"), {"a": "NO"}, {"a": "no"}, "pattern at /a: "),
        (of(pattern="^(?=.*[0-9])[a-z0-9]+$"), {"a": "a1"}, {"a": "aa"}, "pattern at /a: "),
        (of(format="date"), {"a": "2026-02-28"}, {"a": "2026-02-30"}, "format at /a: "),
        (
            {"$schema": DRAFT2020} | of(format="uuid"),
            {"a": "0" * 8 + "-0000-0000-0000-" + "0" * 12},
            {"a": "x"},
            "format",
        ),
        (of(items={"required": ["b"]}), {"a": [{"b": 1}]}, {"a": [{"b": 1}, {}]}, "required at /a/1: "),
        (of(uniqueItems=True), {"a": [1, 2]}, {"a": [1, 1.0]}, "uniqueItems at /a: "),
        (of(oneOf=[{"minimum": 0}, {"maximum": 9}]), {"a": -1}, {"a": 5}, "oneOf at /a: "),
        (of(anyOf=[{"type": "string"}, {"type": "null"}]), {"a": None}, {"a": 5}, "anyOf at /a: "),
        (of(**{"not": {"const": 0}}), {"a": 1}, {"a": 0}, "not at /a: "),
        ({"if": of(const=1), "then": {"required": ["b"]}}, {"a": 1, "b": 2}, {"a": 1}, "required at /: "),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}, {"b": 1}, "additionalProperties at /: "),
        ({"patternProperties": {"^x": {"type": "string"}}}, {"y": 1}, {"x1": 1}, "type at /x1: "),
        ({"propertyNames": {"maxLength": 1}}, {"a": 1}, {"aa": 1}, "propertyNames at /: "),
        ({"$schema": DRAFT4} | of(minimum=3, exclusiveMinimum=True), {"a": 4}, {"a": 3}, "xclusive"),
        ({"$schema": DRAFT2020} | of(prefixItems=[{"type": "string"}]), {"a": ["x"]}, {"a": [1]}, "type at /a/0: "),
    ],
)
def test_a_keyword_that_a_value_breaks_is_named_with_its_place(schema: Any, good: Any, bad: Any, reason: str) -> None:
    found = held(schema, good, bad, good)
    assert list(found) == [1]
    assert reason in found[1]


def test_references_lead_to_the_schemas_of_other_subjects() -> None:
    size = Referred("size.json", json.dumps({"definitions": {"small": {"maximum": 3}}}))
    by_name = of(**{"$ref": "size.json#/definitions/small"})
    assert list(held(by_name, {"a": 3}, {"a": 4}, referred=[size])) == [1]
    far = size._replace(name="http://shop/size.json")
    box = Referred("http://shop/box.json", json.dumps({"properties": {"w": {"$ref": "size.json#/definitions/small"}}}))
    through_another = of(**{"$ref": "http://shop/box.json"})
    assert list(held(through_another, {"a": {"w": 3}}, {"a": {"w": 4}}, referred=[far, box])) == [1]
    named_by_itself = Referred("box", json.dumps({"$id": "http://shop/own.json", "maximum": 3}))
    by_id = of(**{"$ref": "http://shop/own.json"})
    assert list(held(by_id, {"a": 3}, {"a": 4}, referred=[named_by_itself])) == [1]


def doubled(levels: int) -> dict[str, Any]:
    """Each definition names the next one twice."""
    all = {f"d{at}": {"allOf": [{"$ref": f"#/definitions/d{at + 1}"}] * 2} for at in range(levels)}
    return {"definitions": all | {f"d{levels}": {"type": "object"}}, "$ref": "#/definitions/d0"}


def test_a_schema_that_unfolds_without_end_is_refused_before_it_is_used() -> None:
    assert held(doubled(6), {}) == {}
    with pytest.raises(CannotBeHeld, match="more than 10000 subschemas"):
        held(doubled(60), {})


def test_properties_do_not_add_up_however_they_refer_to_each_other() -> None:
    names = [f"t{at}" for at in range(25)]
    tangled = {
        name: {"type": "object", "properties": {other: {"$ref": f"#/definitions/{other}"} for other in names}}
        for name in names
    }
    schema = {"definitions": tangled, "$ref": "#/definitions/t0"}
    assert list(held(schema, {"t1": {"t2": {"t1": {}}}}, {"t1": {"t2": 5}})) == [1]


def test_a_value_of_very_many_parts_is_not_held_against_a_schema_of_very_many_branches() -> None:
    found = held({"items": {"oneOf": [{"const": at} for at in range(1_000)]}}, [1] * 100, [1] * 200_000)
    assert list(found) == [1]
    assert found[1].startswith("it has too many parts")


def test_recursion_is_as_deep_as_values_are() -> None:
    tree = {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, "n": {"maximum": 3}}}
    good, bad = {"n": 1}, {"n": 4}
    for _ in range(60):
        good, bad = {"next": good}, {"next": bad}  # type: ignore[dict-item]
    found = held(tree, good, bad)
    assert list(found) == [1]
    assert "branches within branches" in found[1]  # to name them all would take 2 to the power of 60 steps


def test_an_evil_expression_ends() -> None:
    evil, endless = "a" * 5_000, {"pattern": r"^(a*)*\1(?=b)c$"}
    assert list(held(of(pattern="^(a+)+$"), {"a": evil}, {"a": evil + "b"})) == [1]
    assert "pattern at /a: " in held(of(**endless), {"a": evil})[0]
    with pytest.raises(CannotBeHeld, match=r"set lakestream\.validate=id"):
        held(of(pattern="^((x{1,1000}){1,1000}){1,1000}$"), {})


def test_values_beyond_what_can_be_held_are_refused() -> None:
    found = held(of(maxLength=3, pattern="x"), b'{"a": 1' + b"0" * 5_000 + b"}", b'{"a": "\\ud800"}')
    assert list(found) == [0, 1]
    assert all(reason.startswith("it cannot be held against the schema") for reason in found.values())


def test_of_many_bad_values_the_first_are_told_in_detail() -> None:
    found = held(of(minimum=3), *[{"a": 1}] * (REASONS_MAX + 5))
    assert len(found) == REASONS_MAX + 5
    assert found[REASONS_MAX - 1].startswith("minimum at /a")
    assert found[REASONS_MAX] == "it is not what the schema allows, as others before it"


def test_branches_are_counted_where_they_meet_the_same_value() -> None:
    optional = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    many = {"type": "object", "properties": {str(at): optional for at in range(50)}}
    assert extent_of(JsonSchemaFormat().parse(json.dumps(many), []).root).branches == 2
    nested = {"oneOf": [optional, optional, {"allOf": [optional, {"not": optional}]}]}
    assert extent_of(JsonSchemaFormat().parse(json.dumps(nested), []).root).branches == 8


@settings(max_examples=80, deadline=None)
@given(SCHEMAS, st.lists(VALUES, min_size=20, max_size=20))
def test_values_are_judged_as_another_validator_judges_them(inner: Any, values: list[Any]) -> None:
    schema = {"$schema": DRAFT2020, "allOf": [inner]}
    other = Draft202012Validator(schema)
    assert list(held(schema, *values)) == [at for at, value in enumerate(values) if not other.is_valid(value)]


SIMPLE = st.sampled_from([{"type": one} for one in ("integer", "number", "boolean", "string")])
OBJECTS = st.dictionaries(st.sampled_from("abc"), st.sampled_from([None, True, 0, 1.5, "", "a"]), max_size=3)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), SIMPLE), st.booleans(), st.lists(OBJECTS, min_size=20, max_size=20))
def test_a_schema_of_simple_types_alone_is_judged_by_reading_and_comes_to_the_same(
    properties: dict[str, Any], closed: bool, values: list[Any]
) -> None:
    schema = {"type": "object", "properties": properties} | ({"additionalProperties": False} if closed else {})
    parsed = JsonSchemaFormat().parse(json.dumps(schema), [])
    writer = Writer(number=1, format="json", codec=CODEC_VERSION, framed=True)
    registered = RegisteredWriter(writer, wanted_columns(parsed), parsed)
    texts = pa.array([json.dumps(value).encode() for value in values], pa.binary())
    found = asyncio.run(Readers(InlineThreads()).errors(texts, registered, full=True, are_keys=False))
    other = Draft7Validator(schema)
    assert found.rows == [at for at, value in enumerate(values) if not other.is_valid(value)]
