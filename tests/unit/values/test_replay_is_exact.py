"""Whatever values a topic gets, replay from its files gives back the bytes that were produced."""

import io
import json
import struct
from typing import Any

import fastavro
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.contract.codecs.avro.codec import writer_of
from lakestream.contract.codecs.json.inference import grown_by_unknown
from lakestream.contract.codecs.protobuf.codec import writer_of as protobuf_writer
from lakestream.contract.columns.from_avro import wanted_columns
from lakestream.contract.columns.from_protobuf import wanted_columns as protobuf_columns
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.avro.format import AvroFormat
from lakestream.contract.topic.topic_contract import TopicContract, ValueMode
from lakestream.contract.topic.value_config import JSON_WRITER
from lakestream.model.configs.value_configs import ValueKeeping
from tests.unit.codecs.protobuf_messages import fill, message_class, schemas
from tests.unit.values.files import replayed, typed_files

FIELDS: list[dict[str, Any]] = [
    {"name": "id", "type": "int"},
    {"name": "name", "type": ["null", "string"]},
    {"name": "tags", "type": {"type": "map", "values": "string"}},
]
LATER: list[dict[str, Any]] = [
    {"name": "id", "type": "long"},
    {"name": "title", "aliases": ["name"], "type": ["null", "string"]},
    {"name": "tags", "type": {"type": "map", "values": "string"}},
    {"name": "parts", "type": {"type": "array", "items": "double"}, "default": []},
]
SCHEMAS = {7: FIELDS, 8: LATER}

junk = st.binary(max_size=40)
framed_junk = junk.map(lambda rest: b"\0\0\0\0\7" + rest)
texts = st.text(max_size=10)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
json_objects = st.dictionaries(
    st.sampled_from(["a", "b", "c", "", "__offset", "A", "a.b"]) | texts, json_values, max_size=5
)
styles = st.sampled_from([{}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": 1}, {"sort_keys": True}])


def schema_text(id: int) -> str:
    return json.dumps({"type": "record", "name": "R", "fields": SCHEMAS[id]})


def avro_contract() -> TopicContract:
    layout, writers = Layout(), []
    for id in SCHEMAS:
        parsed = AvroFormat().parse(schema_text(id), [])
        layout = layout.merged(wanted_columns(parsed))
        writers.append(writer_of(parsed, id))
    return TopicContract(mode=ValueMode.FRAMED, layout=layout, writers=tuple(writers), declared=True)


@st.composite
def avro_values(draw: st.DrawFn) -> bytes:
    id = draw(st.sampled_from(sorted(SCHEMAS)))
    value: dict[str, Any] = {
        "id": draw(st.integers(-(2**31), 2**31 - 1)),
        "tags": draw(st.dictionaries(texts, texts, max_size=3)),
        ("name" if id == 7 else "title"): draw(st.none() | texts),
    }
    if id == 8:
        value["parts"] = draw(st.lists(st.floats(), max_size=3))
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema_text(id))), value)
    return struct.pack(">bi", 0, id) + out.getvalue()


CONTRACT = avro_contract()


@settings(max_examples=150, deadline=None)
@given(
    values=st.lists(
        st.none() | avro_values() | junk | junk.map(lambda rest: b"\0\0\0\0\7" + rest), min_size=1, max_size=40
    )
)
def test_avro_of_several_versions_among_anything_else(values: list[bytes | None]) -> None:
    files, _ = typed_files(CONTRACT, values)
    assert replayed(files) == dict(enumerate(values))


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(
        st.none() | junk | st.builds(lambda one, style: json.dumps(one, **style).encode(), json_objects, styles),
        min_size=1,
        max_size=40,
    )
)
def test_json_of_any_shape_among_anything_else(values: list[bytes | None]) -> None:
    contract = TopicContract(mode=ValueMode.PLAIN, writers=(JSON_WRITER,))
    for _ in range(2):  # once without columns, once with those that were asked for
        files, needs = typed_files(contract, values)
        assert replayed(files) == dict(enumerate(values))
        layout = grown_by_unknown(needs.keys, contract.layout)
        contract = TopicContract(mode=ValueMode.PLAIN, writers=(JSON_WRITER,), layout=layout)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), keeping=st.sampled_from([ValueKeeping.WHEN_NEEDED, ValueKeeping.ALWAYS]))
def test_protobuf_of_any_schema_among_anything_else(data: st.DataObject, keeping: ValueKeeping) -> None:
    schema = data.draw(schemas())
    kind = message_class(schema)
    good = [b"\0\0\0\0\7\0" + fill(data.draw, kind()).SerializeToString() for _ in range(3)]
    values = [*good, *data.draw(st.lists(st.none() | junk | framed_junk, max_size=10))]
    contract = TopicContract(
        mode=ValueMode.FRAMED,
        layout=Layout().merged(protobuf_columns(schema)),
        writers=(protobuf_writer(schema, number=7, framed=True),),
        declared=True,
        keeping=keeping,
    )
    files, _ = typed_files(contract, values)
    assert replayed(files) == dict(enumerate(values))


def test_files_of_before_a_rename_are_read_by_what_they_say_of_themselves() -> None:
    first = AvroFormat().parse(schema_text(7), [])
    layout = Layout().merged(wanted_columns(first))
    before = TopicContract(mode=ValueMode.FRAMED, layout=layout, writers=(writer_of(first, 7),), declared=True)
    out = io.BytesIO()
    value = {"id": 1, "name": "x", "tags": {}}
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema_text(7))), value)
    values: list[bytes | None] = [struct.pack(">bi", 0, 7) + out.getvalue()]
    files, _ = typed_files(before, values)
    renamed = layout.merged(wanted_columns(AvroFormat().parse(schema_text(8), [])))
    assert [column.name for column in renamed.columns] == ["id", "title", "tags", "parts"]
    assert [column.id for column in renamed.columns][:2] == [column.id for column in layout.columns][:2]
    assert replayed(files) == dict(enumerate(values))
