"""Which columns an Avro schema gets."""

from typing import Any

import pytest

from lakestream.contract.columns.from_avro import wanted_columns
from lakestream.contract.columns.iceberg import iceberg_type
from lakestream.contract.columns.layout import CannotFollow, Layout
from tests.unit.codecs.avro.samples import codec_of, parsed


def column_types(schema: Any) -> dict[str, Any]:
    layout = Layout().merged(wanted_columns(parsed(schema)))
    return {column.name: _short(iceberg_type(column)) for column in layout.columns}


def _short(type: Any) -> Any:
    match type:
        case {"type": "struct", "fields": fields}:
            return {field["name"]: _short(field["type"]) for field in fields}
        case {"type": "list", "element": element}:
            return [_short(element)]
        case {"type": "map", "key": key, "value": value}:
            return (key, _short(value))
    return type


def record(**types: Any) -> Any:
    return {"type": "record", "name": "R", "fields": [{"name": name, "type": type} for name, type in types.items()]}


def logical(carrier: str, name: str, **more: Any) -> Any:
    return {"type": carrier, "logicalType": name, **more}


FIXED = {"type": "fixed", "name": "F"}
KINDS = [
    ("int", "int"),
    ("bytes", "binary"),
    (logical("int", "date"), "date"),
    (logical("int", "time-millis"), "int"),
    (logical("long", "time-micros"), "long"),
    (logical("long", "timestamp-millis"), "timestamptz"),
    (logical("long", "timestamp-micros"), "timestamptz"),
    (logical("long", "local-timestamp-millis"), "timestamp"),
    (logical("long", "timestamp-nanos"), "long"),
    (logical("string", "uuid"), "string"),
    ({**FIXED, "size": 16, "logicalType": "uuid"}, "uuid"),
    ({**FIXED, "size": 12, "logicalType": "duration"}, "fixed[12]"),
    ({**FIXED, "size": 9}, "fixed[9]"),
    ({**FIXED, "size": 1000}, "binary"),
    (logical("bytes", "decimal", precision=12, scale=3), "decimal(12,3)"),
    ({**FIXED, "size": 9, "logicalType": "decimal", "precision": 18}, "decimal(18,0)"),
    (logical("bytes", "decimal", precision=39, scale=3), "binary"),
    ({"type": "enum", "name": "E", "symbols": ["A"]}, "string"),
    (["null", "string"], "string"),
    (["double", "null"], "double"),
    ({"type": "array", "items": ["null", "int"]}, ["int"]),
    ({"type": "map", "values": "long"}, ("string", "long")),
    (["null", "int", {"type": "array", "items": "string"}], {"int": "int", "array": ["string"]}),
    ({"type": "array", "items": "null"}, ["boolean"]),
    (["null"], "boolean"),
    (["null", {"type": "record", "name": "Empty", "fields": []}], "boolean"),
    ({"type": "record", "name": "In", "fields": [{"name": "x", "type": "int"}]}, {"x": "int"}),
]


@pytest.mark.parametrize(("type", "kind"), KINDS)
def test_each_type_has_its_kind_of_column(type: Any, kind: Any) -> None:
    assert column_types(record(field=type)) == {"field": kind}


def test_what_takes_no_bytes_has_no_column() -> None:
    empty = {"type": "record", "name": "Empty", "fields": [{"name": "none", "type": "null"}]}
    assert column_types(record(a="null", b=empty, c="int")) == {"c": "int"}


@pytest.mark.parametrize(
    ("schema", "columns"),
    [
        ("string", {"value": "string"}),
        (["null", record(a="int")], {"value": {"a": "int"}}),
        (record(a="null"), {"value": "boolean"}),
        ([record(a="int"), "string"], {"value": {"R": {"a": "int"}, "string": "string"}}),
    ],
)
def test_a_schema_that_is_no_record_with_fields_has_one_column(schema: Any, columns: Any) -> None:
    assert column_types(schema) == columns


def test_branches_of_one_name_in_two_namespaces_are_told_apart() -> None:
    one = {"type": "record", "name": "x.R", "fields": [{"name": "a", "type": "int"}]}
    two = {"type": "record", "name": "y.R", "fields": [{"name": "a", "type": "int"}]}
    assert column_types([one, two]) == {"value": {"x_R": {"a": "int"}, "y_R": {"a": "int"}}}


def test_a_type_that_contains_itself_is_text_below_the_outermost_record() -> None:
    tree = record(name="string", children={"type": "array", "items": "R"})
    assert column_types(tree) == {"name": "string", "children": ["string"]}
    assert column_types({"type": "record", "name": "Top", "fields": [{"name": "tree", "type": tree}]}) == {
        "tree": "string"
    }


def test_aliases_and_docs_come_along() -> None:
    field = {"name": "amount", "type": "int", "aliases": ["price"], "doc": "In cents."}
    (wanted,) = wanted_columns(parsed({"type": "record", "name": "R", "fields": [field]}))
    assert (wanted.aliases, wanted.doc) == (("price",), "In cents.")


def unfolding() -> Any:
    inner: Any = record(a="int")
    for level in range(25):
        name = "R" if level == 0 else f"L{level - 1}"
        inner = {
            "type": "record",
            "name": f"L{level}",
            "fields": [{"name": "one", "type": inner}, {"name": "two", "type": name}],
        }
    return inner


def test_a_schema_that_unfolds_to_billions_of_columns_is_refused_quickly() -> None:
    with pytest.raises(CannotFollow, match="2,000 columns"):
        wanted_columns(parsed(unfolding()))
    with pytest.raises(CannotFollow, match="2,000 fields"):
        codec_of(unfolding(), Layout())


def test_a_schema_that_is_deeper_than_columns_may_be_is_refused() -> None:
    fields, innermost = [], "int"
    for block in range(8):
        nested: Any = innermost
        for level in range(20):
            nested = {"type": "record", "name": f"B{block}L{level}", "fields": [{"name": "in", "type": nested}]}
        fields.append({"name": f"f{block}", "type": nested})
        innermost = nested["name"]
    deep = {"type": "record", "name": "Top", "fields": fields}
    with pytest.raises(CannotFollow, match="nested more than 64 deep"):
        wanted_columns(parsed(deep))
    with pytest.raises(CannotFollow, match="nested too deep"):
        codec_of(deep, Layout())


def test_a_chain_of_thousands_of_types_exhausts_no_stack() -> None:
    fields = [{"name": "f0", "type": record(a="int")}]
    for level in range(1, 3000):
        inner = [{"name": "in", "type": "R" if level == 1 else f"L{level - 1}"}]
        fields.append({"name": f"f{level}", "type": {"type": "record", "name": f"L{level}", "fields": inner}})
    with pytest.raises(CannotFollow, match="2,000 columns"):
        wanted_columns(parsed({"type": "record", "name": "Top", "fields": fields}))
