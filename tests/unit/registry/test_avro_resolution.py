"""Avro compatibility: the specification's rules one by one, and all of them against fastavro's own reader."""

import io
import json
from typing import Any

import fastavro
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from lakestream.contract.registry.avro.format import AvroFormat
from lakestream.contract.registry.comparing import Comparison, Incompatibility
from tests.unit.registry.avro_pairs import PRIMITIVES, data, evolved, schemas

AVRO = AvroFormat()


def breaks(writer: Any, reader: Any) -> list[Incompatibility]:
    parsed = [AVRO.parse(json.dumps(schema), []) for schema in (writer, reader)]
    return AVRO.breaks(writer=parsed[0], reader=parsed[1], comparison=Comparison())


def kinds(writer: Any, reader: Any) -> set[str]:
    return {difference.kind for difference in breaks(writer, reader)}


def record(*fields: dict[str, Any], name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, type: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type, **more}


@pytest.mark.parametrize("writer", PRIMITIVES)
@pytest.mark.parametrize("reader", PRIMITIVES)
def test_of_primitives_exactly_those_are_read_that_fastavro_reads(writer: str, reader: str) -> None:
    assert (not breaks(writer, reader)) is reads(writer, reader, DATA[writer])


DATA: dict[str, Any] = dict(
    zip(PRIMITIVES, (None, True, 7, 2**40, 1.5, 2.5, b"ab", "text"), strict=True),
)


def reads(writer: Any, reader: Any, datum: Any) -> bool:
    """Whether fastavro reads with the one what was written with the other."""
    written, read = (fastavro.parse_schema(json.loads(_resolved(schema))) for schema in (writer, reader))
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, written, datum)
    buffer.seek(0)
    try:
        fastavro.schemaless_reader(buffer, written, read)
    except fastavro.read.SchemaResolutionError:
        return False
    return buffer.read() == b""


def test_a_new_field_needs_a_default() -> None:
    old, new = record(field("a", "int")), record(field("a", "int"), field("b", "string"))
    (found,) = breaks(old, new)
    assert (found.kind, found.path) == ("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/1")
    assert "field 'b' of record R" in found.why
    assert kinds(new, old) == set()
    assert kinds(old, record(field("a", "int"), field("b", "string", default=""))) == set()


def test_a_renamed_field_is_found_by_its_alias() -> None:
    old, new = record(field("a", "int")), record(field("b", "int", aliases=["a"]))
    assert kinds(old, new) == set()
    assert kinds(new, old) == {"READER_FIELD_MISSING_DEFAULT_VALUE"}


def test_a_renamed_record_is_found_by_its_alias() -> None:
    old = record(field("a", "int"), name="Old", namespace="x")
    assert kinds(old, record(field("a", "int"), name="New", namespace="x")) == {"NAME_MISMATCH"}
    assert kinds(old, record(field("a", "int"), name="New", namespace="x", aliases=["Old"])) == set()
    assert kinds(old, record(field("a", "int"), name="New", namespace="y", aliases=["Old"])) == {"NAME_MISMATCH"}
    assert kinds(old, record(field("a", "int"), name="New", namespace="y", aliases=["x.Old"])) == set()


def test_a_namespace_alone_changes_nothing() -> None:
    assert kinds(record(namespace="x"), record(namespace="y")) == set()


def test_enum_symbols_may_be_added_or_defaulted() -> None:
    few, many = ({"type": "enum", "name": "E", "symbols": list(symbols)} for symbols in ("A", "AB"))
    assert kinds(few, many) == set()
    (found,) = breaks(many, few)
    assert (found.kind, found.path) == ("MISSING_ENUM_SYMBOLS", "/symbols")
    assert kinds(many, {**few, "default": "A"}) == set()


def test_a_fixed_keeps_its_size() -> None:
    four, five = ({"type": "fixed", "name": "F", "size": size} for size in (4, 5))
    assert kinds(four, five) == {"FIXED_SIZE_MISMATCH"}
    assert kinds(four, four) == set()


def test_unions_grow_and_are_left_only_when_every_branch_fits() -> None:
    assert kinds("string", ["null", "string"]) == set()
    assert kinds(["null", "string"], "string") == {"TYPE_MISMATCH"}
    assert kinds(["null", "string"], ["string"]) == {"MISSING_UNION_BRANCH"}
    assert kinds(["int", "long"], "long") == set()
    assert kinds(["int"], ["string", "double"]) == set()


def test_the_branch_that_was_meant_is_the_one_that_is_explained() -> None:
    old = ["null", record(field("a", "int"))]
    (found,) = breaks(old, ["null", record(field("a", "int"), field("b", "int"))])
    assert (found.kind, found.path) == ("READER_FIELD_MISSING_DEFAULT_VALUE", "/1/fields/1")


def test_a_record_that_contains_itself_is_compared_once() -> None:
    def tree(value: str, **more: Any) -> dict[str, Any]:
        return record(field("v", value), field("left", ["null", "R"]), field("right", ["null", "R"]), **more)

    assert kinds(tree("int"), tree("long")) == set()
    assert kinds(tree("long"), tree("int")) == {"TYPE_MISMATCH"}


def test_a_logical_type_that_means_something_else_does_not_fit() -> None:
    def long(logical: str) -> dict[str, str]:
        return {"type": "long", "logicalType": logical}

    assert kinds(long("timestamp-millis"), long("timestamp-micros")) == {"LOGICAL_TYPE_MISMATCH"}
    assert kinds("long", long("timestamp-micros")) == set()
    assert kinds(long("timestamp-micros"), "long") == set()

    def decimal(precision: int, scale: int) -> dict[str, Any]:
        return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}

    assert kinds(decimal(9, 2), decimal(9, 3)) == {"LOGICAL_TYPE_MISMATCH"}
    assert kinds(decimal(9, 2), decimal(8, 2)) == {"LOGICAL_TYPE_MISMATCH"}
    assert kinds(decimal(9, 2), decimal(10, 2)) == set()


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_what_we_call_compatible_fastavro_reads(drawing: st.DataObject) -> None:
    writer = drawing.draw(schemas())
    reader = drawing.draw(evolved(writer))
    compatible = not breaks(writer, reader)
    event(f"compatible: {compatible}")
    if not compatible:
        return
    for datum in [drawing.draw(data(writer)) for _ in range(3)]:
        assert reads(writer, reader, datum)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(schemas())
def test_every_schema_reads_its_own_data(schema: Any) -> None:
    assert breaks(schema, schema) == []


def _resolved(schema: Any) -> str:
    text = AVRO.written(AVRO.parse(json.dumps(schema), []), "resolved")
    assert text is not None
    return text
