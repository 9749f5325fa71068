"""JSON Schema compatibility: keyword by keyword, and as a whole against a validator."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from lakestream.contract.registry.comparing import Comparison, Incompatibility
from lakestream.contract.registry.json_schema.document import parsed_schema
from lakestream.contract.registry.json_schema.format import JsonSchemaFormat
from lakestream.contract.registry.parsed import Referred
from lakestream.model.registry_errors import InvalidSchema, SchemaTooLarge

FORMAT = JsonSchemaFormat()
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def breaks(writer: Any, reader: Any) -> list[Incompatibility]:
    parsed = [FORMAT.parse(json.dumps(schema), []) for schema in (writer, reader)]
    return FORMAT.breaks(writer=parsed[0], reader=parsed[1], comparison=Comparison())


def kinds(writer: Any, reader: Any) -> set[str]:
    return {difference.kind for difference in breaks(writer, reader)}


def objects(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
OPEN_A, OPEN_AB = objects({"a": STRING}), objects({"a": STRING, "b": STRING})
CLOSED_A, CLOSED_AB = ({**schema, "additionalProperties": False} for schema in (OPEN_A, OPEN_AB))


@pytest.mark.parametrize(
    ("writer", "reader", "found"),
    [
        # types
        (INTEGER, NUMBER, ""),
        (NUMBER, INTEGER, "TYPE_CHANGED"),
        (STRING, {"type": ["string", "null"]}, ""),
        ({"type": ["string", "null"]}, STRING, "TYPE_NARROWED"),
        (STRING, {}, ""),
        ({}, STRING, "TYPE_NARROWED"),
        (STRING, True, ""),
        (STRING, False, "NOTHING_ALLOWED"),
        # content models
        (OPEN_A, OPEN_AB, "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"),
        (OPEN_AB, OPEN_A, ""),
        (CLOSED_A, CLOSED_AB, ""),
        (CLOSED_AB, CLOSED_A, "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"),
        (CLOSED_A, OPEN_A, ""),
        (OPEN_A, CLOSED_A, "ADDITIONAL_PROPERTIES_REMOVED"),
        (OPEN_A, objects({"a": STRING, "b": {}}), ""),
        ({**OPEN_A, "additionalProperties": STRING}, OPEN_AB | {"additionalProperties": STRING}, ""),
        ({**OPEN_A, "additionalProperties": STRING}, {**OPEN_A, "additionalProperties": INTEGER}, "TYPE_CHANGED"),
        ({**OPEN_A, "patternProperties": {"^x": STRING}}, {**OPEN_A, "patternProperties": {"^x": {}}}, ""),
        (
            objects({"x1": STRING}),
            objects({"x1": STRING}, patternProperties={"^x": INTEGER}),
            "TYPE_CHANGED",
        ),
        # required
        (CLOSED_A, {**CLOSED_A, "required": ["a"]}, "REQUIRED_ATTRIBUTE_ADDED"),
        ({**CLOSED_A, "required": ["a"]}, CLOSED_A, ""),
        (CLOSED_A, {**CLOSED_A, "properties": {"a": {**STRING, "default": ""}}, "required": ["a"]}, ""),
        # values
        ({"enum": ["a"]}, {"enum": ["a", "b"]}, ""),
        ({"enum": ["a", "b"]}, {"enum": ["a"]}, "ENUM_ARRAY_NARROWED"),
        (STRING, {"type": "string", "enum": ["a"]}, "ENUM_ADDED"),
        ({"const": 1}, {"enum": [1.0, 2]}, ""),
        ({"const": 1}, {"enum": [True]}, "ENUM_ARRAY_NARROWED"),
        ({"enum": ["a"]}, STRING, ""),
        # strings
        ({**STRING, "maxLength": 5}, {**STRING, "maxLength": 6}, ""),
        ({**STRING, "maxLength": 5}, {**STRING, "maxLength": 4}, "MAX_LENGTH_DECREASED"),
        (STRING, {**STRING, "maxLength": 4}, "MAX_LENGTH_DECREASED"),
        (STRING, {**STRING, "minLength": 1}, "MIN_LENGTH_INCREASED"),
        (STRING, {**STRING, "pattern": "^a"}, "PATTERN_CHANGED"),
        ({**STRING, "pattern": "^a"}, STRING, ""),
        (STRING, {**STRING, "format": "date"}, "FORMAT_CHANGED"),
        # numbers
        ({**NUMBER, "minimum": 1}, {**NUMBER, "minimum": 0}, ""),
        ({**NUMBER, "minimum": 0}, {**NUMBER, "minimum": 1}, "MINIMUM_NARROWED"),
        ({**NUMBER, "minimum": 0}, {**NUMBER, "exclusiveMinimum": 0}, "MINIMUM_NARROWED"),
        ({**NUMBER, "exclusiveMinimum": 0}, {**NUMBER, "minimum": 0}, ""),
        ({**NUMBER, "maximum": 9}, {**NUMBER, "maximum": 8.5}, "MAXIMUM_NARROWED"),
        ({**NUMBER, "multipleOf": 0.3}, {**NUMBER, "multipleOf": 0.1}, ""),
        ({**NUMBER, "multipleOf": 0.1}, {**NUMBER, "multipleOf": 0.3}, "MULTIPLE_OF_CHANGED"),
        (INTEGER, {**NUMBER, "multipleOf": 0.5}, ""),
        # arrays
        ({"type": "array", "items": INTEGER}, {"type": "array", "items": NUMBER}, ""),
        ({"type": "array", "items": NUMBER}, {"type": "array", "items": INTEGER}, "TYPE_CHANGED"),
        ({"type": "array"}, {"type": "array", "minItems": 1}, "MIN_ITEMS_INCREASED"),
        ({"type": "array"}, {"type": "array", "uniqueItems": True}, "UNIQUE_ITEMS_ADDED"),
        ({"type": "array", "items": [STRING]}, {"type": "array", "items": [STRING, STRING]}, "TYPE_NARROWED"),
        (
            {"type": "array", "items": [STRING], "additionalItems": False},
            {"type": "array", "items": [STRING, STRING], "additionalItems": False},
            "",
        ),
        # combinations
        ({"anyOf": [STRING]}, {"anyOf": [STRING, INTEGER]}, ""),
        ({"oneOf": [STRING, INTEGER]}, {"oneOf": [STRING]}, "SUM_TYPE_NARROWED"),
        ({"oneOf": [STRING, INTEGER]}, STRING, "TYPE_CHANGED"),
        ({"oneOf": [STRING, INTEGER]}, {"anyOf": [INTEGER, STRING]}, ""),
        ({"type": ["null", "string"]}, {"oneOf": [{"type": "null"}, STRING]}, ""),
        ({"allOf": [STRING, {"maxLength": 3}]}, {"allOf": [STRING]}, ""),
        ({"allOf": [STRING]}, {"allOf": [STRING, {"maxLength": 3}]}, "MAX_LENGTH_DECREASED"),
        ({"not": {"type": ["string", "null"]}}, {"not": STRING}, ""),
        ({"not": STRING}, {"not": {"type": ["string", "null"]}}, "NOT_TYPE_EXTENDED"),
        # what is not decided
        (STRING, {"if": STRING, "then": {"maxLength": 1}}, "UNDECIDED"),
        ({"if": STRING, "then": {"maxLength": 1}}, {"if": STRING, "then": {"maxLength": 1}}, ""),
        ({"type": "array"}, {"type": "array", "contains": STRING}, "UNDECIDED"),
        # annotations
        ({**STRING, "title": "a", "x-owner": "me"}, {**STRING, "title": "b", "x-owner": "you"}, ""),
        # dependencies
        (CLOSED_AB, {**CLOSED_AB, "dependencies": {"a": ["b"]}}, "DEPENDENCY_ARRAY_EXTENDED"),
        ({**CLOSED_AB, "required": ["b"]}, {**CLOSED_AB, "dependencies": {"a": ["b"]}, "required": ["b"]}, ""),
        ({"type": "object"}, {"type": "object", "propertyNames": {"maxLength": 3}}, "MAX_LENGTH_DECREASED"),
        ({"type": "object", "maxProperties": 2}, {"type": "object", "maxProperties": 1}, "MAX_PROPERTIES_DECREASED"),
    ],
)
def test_the_rules(writer: Any, reader: Any, found: str) -> None:
    assert kinds(writer, reader) == set(found.split())


def test_a_difference_says_where_and_what_to_do() -> None:
    (found,) = breaks(objects({"o": objects({"n": STRING})}), objects({"o": objects({"n": INTEGER})}))
    assert str(found).startswith("TYPE_CHANGED at /properties/o/properties/n: string may have been written")


def test_draft_4_says_exclusive_by_a_flag() -> None:
    closed = {"$schema": DRAFT_4, "type": "number", "minimum": 0}
    assert kinds({**closed, "exclusiveMinimum": True}, closed) == set()
    assert kinds(closed, {**closed, "exclusiveMinimum": True}) == {"MINIMUM_NARROWED"}


def test_draft_2020_has_prefix_items_and_references_with_company() -> None:
    short = {"$schema": DRAFT_2020, "type": "array", "prefixItems": [STRING], "items": False}
    assert kinds(short, {**short, "prefixItems": [STRING, INTEGER]}) == set()
    named = {"$schema": DRAFT_2020, "$defs": {"s": STRING}, "$ref": "#/$defs/s"}
    assert kinds(named, {**named, "maxLength": 3}) == {"MAX_LENGTH_DECREASED"}
    assert kinds({**named, "maxLength": 3}, named) == set()


def test_before_2019_what_stands_beside_a_reference_is_ignored() -> None:
    named = {"definitions": {"s": STRING}, "$ref": "#/definitions/s"}
    assert kinds(named, {**named, "maxLength": 3}) == set()


def test_unevaluated_properties_close_a_schema_and_are_not_guessed_beside_combinations() -> None:
    closed = {"$schema": DRAFT_2020, **OPEN_A, "unevaluatedProperties": False}
    assert kinds(closed, {**closed, **OPEN_AB}) == set()
    assert kinds({**closed, **OPEN_AB}, closed) == {"PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"}
    mixed = {**closed, "allOf": [OPEN_AB]}
    assert "UNDECIDED" in kinds(closed, mixed)


def test_a_schema_that_contains_itself_is_compared() -> None:
    def tree(value: Any) -> dict[str, Any]:
        node = objects({"next": {"$ref": "#/definitions/node"}, "value": value}, additionalProperties=False)
        return {"definitions": {"node": node}, "$ref": "#/definitions/node"}

    assert kinds(tree(INTEGER), tree(NUMBER)) == set()
    assert kinds(tree(NUMBER), tree(INTEGER)) == {"TYPE_CHANGED"}


def test_references_lead_to_other_schemas_by_name_and_by_id() -> None:
    other = Referred("address.json", json.dumps({"$id": "http://example.com/address", **STRING}))
    for reference in ("address.json", "http://example.com/address"):
        schema = FORMAT.parse(json.dumps(objects({"a": {"$ref": reference}})), [other])
        wider = FORMAT.parse(json.dumps(objects({"a": {}})), [])
        narrower = FORMAT.parse(json.dumps(objects({"a": INTEGER})), [])
        assert FORMAT.breaks(writer=schema, reader=wider, comparison=Comparison()) == []
        assert FORMAT.breaks(writer=schema, reader=narrower, comparison=Comparison()) != []


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "no JSON"),
        ("[]", "an object, true or false"),
        ('{"type": "text"}', "/type"),
        ('{"properties": {"a": {"minLength": -1}}}', "/properties/a/minLength"),
        ('{"$ref": "#/definitions/none"}', "leads nowhere"),
        ('{"$ref": "http://169.254.169.254/latest"}', "leads nowhere"),
        ('{"$ref": "file:///etc/passwd"}', "leads nowhere"),
        ('{"$ref": "#"}', "without going deeper"),
        ('{"anyOf": [{"type": "string"}, {"$ref": "#"}]}', "without going deeper"),
        ('{"$schema": "http://example.com/mine"}', "not one of the drafts"),
        (
            '{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}}',
            "without going deeper",
        ),
    ],
)
def test_what_is_wrong_is_said(schema: str, said: str) -> None:
    with pytest.raises(InvalidSchema) as refused:
        FORMAT.parse(schema, [])
    assert said in str(refused.value)


def test_an_expression_that_runs_for_ever_is_not_run() -> None:
    evil = "(a+)+$"
    schema = objects({"a" * 60 + "!": STRING}, patternProperties={evil: STRING})
    assert kinds(schema, schema) == set()


def test_combinations_made_to_be_slow_are_given_up() -> None:
    def wide(text: str) -> dict[str, Any]:
        return {
            "anyOf": [objects({f"{text}{n}": {"anyOf": [{"const": f"{n}{m}"} for m in range(60)]}}) for n in range(60)]
        }

    with pytest.raises(SchemaTooLarge, match="steps"):
        parsed = [FORMAT.parse(json.dumps(wide(text)), []) for text in ("a", "b")]
        FORMAT.breaks(writer=parsed[0], reader=parsed[1], comparison=Comparison(comparisons_max=5_000))


def test_only_normalizing_forgets_the_order_of_keys() -> None:
    one, other = (
        FORMAT.parse(text, []) for text in ('{"type":"object","title":"x"}', '{"title":"x", "type":"object"}')
    )
    assert FORMAT.canonical(one) != FORMAT.canonical(other)
    assert FORMAT.normalized(one) == FORMAT.normalized(other)


# --- against a validator -------------------------------------------------------------------------

SCALARS = st.sampled_from(
    [
        STRING,
        INTEGER,
        NUMBER,
        {"type": "null"},
        {"type": "boolean"},
        {"type": ["string", "null"]},
        {"type": "integer", "minimum": 0},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 3},
        {"type": "number", "multipleOf": 2},
        {"type": "string", "maxLength": 1},
        {"type": "string", "minLength": 1},
        {"enum": ["", "ab", 1]},
        {"const": None},
        {"not": STRING},
        {},
        True,
        False,
    ]
)


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from("abc")
    return st.one_of(
        st.builds(
            lambda properties, required, others, patterns: {
                "type": "object",
                "properties": properties,
                "required": required,
                **others,
                **patterns,
            },
            st.dictionaries(names, inner, max_size=3),
            st.lists(names, unique=True, max_size=2),
            st.one_of(st.just({}), inner.map(lambda schema: {"additionalProperties": schema})),
            st.one_of(st.just({}), inner.map(lambda schema: {"patternProperties": {"^a": schema}})),
        ),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            lambda first, rest: {"type": "array", "prefixItems": first, "items": rest},
            st.lists(inner, min_size=1, max_size=2),
            inner,
        ),
        st.builds(lambda choices: {"anyOf": choices}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"allOf": parts}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(
            lambda one, count: {**one, "minProperties": count} if isinstance(one, dict) else one,
            inner,
            st.integers(0, 2),
        ),
    )


SCHEMAS = st.recursive(SCALARS, combined, max_leaves=6)
PLAIN = st.sampled_from([None, True, 0, 1, -1, 2, 3, 1.5, 4.0, "", "a", "ab"])
VALUES = st.one_of(
    PLAIN,
    st.lists(PLAIN, max_size=3),
    st.dictionaries(st.sampled_from("abcd"), PLAIN, max_size=3),
    st.dictionaries(st.sampled_from("abcd"), st.one_of(PLAIN, st.lists(PLAIN, max_size=2)), max_size=3),
)


@st.composite
def evolved(draw: st.DrawFn, schema: Any) -> Any:
    """Often the same, here and there something else."""
    change = draw(st.integers(0, 11))
    if change == 0:
        return draw(SCALARS)
    if not isinstance(schema, dict):
        return schema
    changed = dict(schema)
    for key in ("additionalProperties", "items"):
        if key in changed:
            changed[key] = draw(evolved(changed[key]))
    for key in ("anyOf", "allOf", "prefixItems"):
        if key in changed:
            parts = [draw(evolved(part)) for part in changed[key]]
            changed[key] = parts[1:] if change == 1 and len(parts) > 1 else parts
    for key in ("properties", "patternProperties"):
        if key in changed:
            changed[key] = {name: draw(evolved(inner)) for name, inner in changed[key].items()}
    if "properties" in changed and change == 2:
        changed["properties"] = dict(list(changed["properties"].items())[1:])
    if "properties" in changed and change == 3:
        changed["properties"] = {**changed["properties"], draw(st.sampled_from("abc")): draw(SCALARS)}
    if "required" in changed and change in (4, 5):
        changed["required"] = draw(st.lists(st.sampled_from("abc"), unique=True, max_size=2))
    if change == 6:
        changed.pop("patternProperties", None)
    for key in ("minimum", "maximum"):
        if key in changed and change in (7, 8):
            changed["exclusive" + key.title()] = changed.pop(key)
    return changed


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), SCHEMAS, st.lists(VALUES, min_size=30, max_size=30))
def test_what_we_call_compatible_a_validator_accepts(drawing: st.DataObject, inner: Any, values: list[Any]) -> None:
    writer, reader = ({"$schema": DRAFT_2020, "allOf": [schema]} for schema in (inner, drawing.draw(evolved(inner))))
    if writer == reader or breaks(writer, reader):
        event("the same, or not compatible")
        return
    valid = Draft202012Validator(writer)
    for value in values:
        if valid.is_valid(value):
            event("a value was written")
            assert Draft202012Validator(reader).is_valid(value), (writer, reader, value)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(SCHEMAS)
def test_every_schema_reads_its_own_data(schema: Any) -> None:
    assert breaks({"$schema": DRAFT_2020, "allOf": [schema]}, {"$schema": DRAFT_2020, "allOf": [schema]}) == []


@pytest.mark.parametrize(
    ("text", "reason"), [('{"type": 12}', "12 is not of type 'array'"), ('{"type": "strin"}', "'strin' is not one of")]
)
def test_a_keyword_with_alternatives_says_what_each_of_them_asks_for(text: str, reason: str) -> None:
    with pytest.raises(InvalidSchema, match=r"^/type: .* cannot stand here: ") as refused:
        parsed_schema(text, [])
    assert reason in str(refused.value) and "given schemas" not in str(refused.value)
