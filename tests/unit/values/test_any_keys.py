"""Whatever keys a topic gets, its files can be written, consumers get the very bytes, and what can be read is read."""

import asyncio
import io
import json
import struct
from dataclasses import replace
from typing import Any, cast

import fastavro
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.contract.codecs.avro.codec import writer_of
from lakestream.contract.codecs.json.single_value import wanted_single
from lakestream.contract.columns.from_avro import wanted_columns
from lakestream.contract.columns.json_text import holds_json_text
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.avro.format import AvroFormat
from lakestream.contract.registry.json_schema.format import JsonSchemaFormat
from lakestream.contract.topic.growing_keys import GrowingKeys
from lakestream.contract.topic.key_columns import wanted_of_keys
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.contract.topic.topic_contract import KeyContract, Needs, TopicContract, ValueMode
from lakestream.contract.topic.value_config import JSON_WRITER, PartConfig, ValueFormat, with_first_keys
from lakestream.metadata.registry_store import RegistryStore
from lakestream.world.threads import InlineThreads
from tests.unit.values.files import replayed, typed_files
from tests.unit.values.test_replay_is_exact import json_objects, junk, schema_text

SCHEMAS: dict[int, str] = {7: schema_text(7), 8: '"long"'}

Keys = list[bytes | None]


def framed_contract() -> TopicContract:
    layout, writers = Layout(), []
    for id, text in SCHEMAS.items():
        parsed = AvroFormat().parse(text, [])
        writers.append(writer_of(parsed, id))
        layout = layout.merged_keys(wanted_of_keys(writers[-1], wanted_columns(parsed)))
    key = KeyContract(mode=ValueMode.FRAMED, writers=tuple(writers), declared=True)
    return TopicContract(mode=ValueMode.RAW, layout=layout, key=key)


CONTRACT = framed_contract()
TEXT = with_first_keys(TopicContract(mode=ValueMode.RAW), PartConfig(format=ValueFormat.STRING))


@st.composite
def avro_keys(draw: st.DrawFn) -> tuple[bytes, Any]:
    """(bytes, what the columns say)"""
    id = draw(st.sampled_from([7, 8]))
    key: Any = draw(st.integers(-(2**63), 2**63 - 1))
    if id == 7:
        key = {"id": draw(st.integers(-9, 9)), "name": draw(st.none() | st.text(max_size=5)), "tags": {}}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(SCHEMAS[id])), key)
    return struct.pack(">bi", 0, id) + out.getvalue(), key | {"tags": []} if id == 7 else key


def columns(files: list[bytes]) -> dict[int, dict[str, Any]]:
    return {row["__offset"]: row for file in files for row in pq.read_table(io.BytesIO(file)).to_pylist()}


@settings(max_examples=100, deadline=None)
@given(
    keys=st.lists(
        avro_keys()
        | st.none().map(lambda _: (None, None))
        | st.builds(lambda id, rest: (struct.pack(">bi", 0, id) + rest, ...), st.sampled_from([7, 8, 10]), junk)
        | junk.map(lambda rest: (b"\1" + rest, None)),
        min_size=1,
        max_size=30,
    )
)
def test_framed_keys_among_anything_else(keys: list[tuple[bytes | None, Any]]) -> None:
    given: Keys = [key for key, _ in keys]
    files, needs = typed_files(CONTRACT, [b"v"] * len(keys), given)
    assert replayed(files, "key") == dict(enumerate(given))
    found = columns(files)
    for at, (_, said) in enumerate(keys):
        if said is not ...:  # bytes that may happen to make sense
            shown = found[at]["key"] if isinstance(said, dict) else found[at]["key_2"]
            assert shown == said
    unknown = {10} if any(key is not None and key[:5] == b"\0\0\0\0\x0a" for key in given) else set()
    assert (needs.of_keys.schema_ids if needs.of_keys else set()) == unknown


@settings(max_examples=60, deadline=None)
@given(keys=st.lists(st.none() | junk | st.text(max_size=8).map(str.encode), min_size=1, max_size=30))
def test_text_keys_among_anything_else(keys: Keys) -> None:
    files, _ = typed_files(TEXT, [None] * len(keys), keys)
    assert replayed(files, "key") == dict(enumerate(keys))
    for at, row in columns(files).items():
        key = keys[at]
        assert row["key"] == (None if key is None or not _is_text(key) else key.decode())


@settings(max_examples=60, deadline=None)
@given(
    keys=st.lists(st.none() | junk | json_objects.map(lambda one: json.dumps(one).encode()), min_size=1, max_size=20)
)
def test_json_keys_among_anything_else(keys: Keys) -> None:
    contract = TopicContract(mode=ValueMode.RAW, key=KeyContract(mode=ValueMode.PLAIN, writers=(JSON_WRITER,)))
    for _ in range(2):  # once without columns, once with some
        files, _ = typed_files(contract, [b"v"] * len(keys), keys)
        assert replayed(files, "key") == dict(enumerate(keys))
        wanted = wanted_of_keys(JSON_WRITER, wanted_columns(AvroFormat().parse(schema_text(7), [])))
        contract = replace(contract, layout=contract.layout.merged_keys(wanted))


class NoRegistry:
    """Nothing is registered, and nobody asks."""


async def grown(contract: TopicContract, needs: Needs) -> TopicContract:
    assert contract.key is not None
    growing = GrowingKeys(RegisteredWriters(cast(RegistryStore, NoRegistry()), InlineThreads()))
    return await growing.grown(contract, contract.key, needs, PartConfig(format=ValueFormat.JSON))


JSON_KEYS = TopicContract(mode=ValueMode.RAW, key=KeyContract(mode=ValueMode.PLAIN, writers=(JSON_WRITER,)))


def typed_by_need(keys: Keys) -> tuple[list[bytes], TopicContract]:
    """Once for what they need, and again with it, as compaction does."""
    files, needs = typed_files(JSON_KEYS, [b"v"] * len(keys), keys)
    if needs.of_keys is None:
        return files, JSON_KEYS
    contract = asyncio.run(grown(JSON_KEYS, Needs.from_json(json.loads(json.dumps(needs.of_keys.to_json())))))
    files, _ = typed_files(contract, [b"v"] * len(keys), keys)
    return files, contract


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ([b'"abc"', b' "d\\u00e9" ', None, b"null"], ["abc", "d\u00e9", None, None]),
        ([b"17", b"-3", b"no", b"1,2"], [17, -3, None, None]),
        ([b"1", b"2.5", b"1e3"], [1.0, 2.5, 1000.0]),
        ([b"true", b"false"], [True, False]),
        ([b"1", b'"a"', b"true"], ["1", '"a"', "true"]),  # of several kinds: JSON text
    ],
)
def test_json_keys_that_are_single_values_have_one_typed_column(keys: Keys, shown: list[Any]) -> None:
    files, contract = typed_by_need(keys)
    assert [row["key"] for row in columns(files).values()] == shown
    assert replayed(files, "key") == dict(enumerate(keys))
    assert [column.name for column in contract.layout.key_columns] == ["key"]


def test_json_keys_may_be_objects_and_single_values() -> None:
    keys: Keys = [b'{"value": 1, "b": "x"}', b"17", b'{"value": 2}', b'3,"value":4', b'5}{"value":6']
    files, _ = typed_by_need(keys)
    assert [(row["key"], row["key_2"]) for row in columns(files).values()] == [
        ({"value": 1, "b": "x"}, None),
        (None, 17),
        ({"value": 2, "b": None}, None),
        (None, None),
        (None, None),
    ]
    assert replayed(files, "key") == dict(enumerate(keys))


@settings(max_examples=100, deadline=None)
@given(
    keys=st.lists(
        st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.text(max_size=6)).map(
            lambda one: (json.dumps(one).encode(), one)
        )
        | junk.map(lambda one: (one, ...)),
        min_size=1,
        max_size=20,
    )
)
def test_single_json_keys_among_anything_else(keys: list[tuple[bytes, Any]]) -> None:
    given: Keys = [key for key, _ in keys]
    files, contract = typed_by_need(given)
    assert replayed(files, "key") == dict(enumerate(given))
    single = contract.layout.key_column("value")
    if single is None or holds_json_text(single):
        return  # no key was one, or they are of several kinds
    for at, row in columns(files).items():
        said = keys[at][1]
        if said is not ... and said is not None:
            assert row[single.name] == said


def test_a_json_schema_of_a_single_value_makes_a_column_for_keys() -> None:
    for text, kind in [('{"type": "string"}', "string"), ('{"type": ["integer", "null"]}', "long"), ("{}", None)]:
        wanted = wanted_single(JsonSchemaFormat().parse(text, []))
        assert [one.kind for one in wanted] == ([kind] if kind else [])


def _is_text(key: bytes) -> bool:
    try:
        key.decode()
    except UnicodeDecodeError:
        return False
    return True
