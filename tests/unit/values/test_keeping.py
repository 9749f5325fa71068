"""Which rows keep the bytes of their values: those that need to, all, or none that the columns can speak for."""

import io
import json
from dataclasses import replace
from typing import Any, cast

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.contract.codecs.codec import Decoded, ValueCodec
from lakestream.contract.codecs.json.codec import bind as bind_json
from lakestream.contract.codecs.json.inference import wanted_from_unknown
from lakestream.contract.codecs.protobuf.codec import bind as bind_protobuf
from lakestream.contract.codecs.protobuf.codec import writer_of as protobuf_writer
from lakestream.contract.columns.from_protobuf import wanted_columns as protobuf_columns
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.protobuf.format import ProtobufFormat
from lakestream.contract.topic.topic_contract import TopicContract, ValueMode
from lakestream.contract.topic.value_config import JSON_WRITER
from lakestream.contract.values.decoding.restating import ROWS_AT_ONCE, restated
from lakestream.contract.values.rules import Rules
from lakestream.model.configs.value_configs import ValueKeeping
from lakestream.storage.tablefile.format.footer import parse_footer
from tests.unit.values.files import replayed, typed_files
from tests.unit.values.test_replay_is_exact import CONTRACT, avro_values, json_objects, junk, schema_text, styles

JSON = TopicContract(mode=ValueMode.PLAIN, writers=(JSON_WRITER,))


def rows(files: list[bytes]) -> dict[int, dict[str, Any]]:
    return {row["__offset"]: row for file in files for row in pq.read_table(io.BytesIO(file)).to_pylist()}


def rules_of(files: list[bytes]) -> list[Rules]:
    footers = [parse_footer("memory://file", file, len(file)) for file in files]
    return [Rules.from_text(footer.rules or "") for footer in footers]


def with_columns_for(values: list[bytes | None], contract: TopicContract) -> TopicContract:
    _, needs = typed_files(contract, values)
    return replace(contract, layout=contract.layout.merged(wanted_from_unknown(needs.keys, contract.layout)))


texts = st.builds(lambda one, style: json.dumps(one, **style).encode(), json_objects, styles)


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.none() | junk | texts, min_size=1, max_size=30))
def test_restated_json_says_what_it_said(values: list[bytes | None]) -> None:
    contract = with_columns_for(values, replace(JSON, keeping=ValueKeeping.NEVER))
    files, _ = typed_files(contract, values)
    kept, back = rows(files), replayed(files)
    for at, value in enumerate(values):
        if value is None or kept[at]["__value"] is not None:
            assert back[at] == value
        else:
            assert json.loads(back[at] or b"") == json.loads(value)
    changed = any(back[at] != value for at, value in enumerate(values))
    assert not changed or all(rules.restated for rules in rules_of(files))


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.none() | avro_values() | junk, min_size=1, max_size=30))
def test_always_keeps_every_value_beside_its_columns(values: list[bytes | None]) -> None:
    files, _ = typed_files(replace(CONTRACT, keeping=ValueKeeping.ALWAYS), values)
    assert replayed(files) == dict(enumerate(values))
    found = rows(files)
    assert [found[at]["__value"] for at in range(len(values))] == values
    plain, _ = typed_files(CONTRACT, values)
    same = rows(plain)
    assert all(row["id"] == same[at]["id"] and row["tags"] == same[at]["tags"] for at, row in found.items())


def test_odd_spellings_are_given_up_and_what_columns_cannot_hold_is_not() -> None:
    values: list[bytes | None] = [
        b'{"a": 1, "b": 0.5, "c": "x"}',
        b'{"a": 2, "b": 5e-1, "c": "\\u0078"}',
        b'{"a":\t3,"b":0.50000}',
        b'{"a": 4, "a": 5}',
        b'{"a": "five"}',
        b'{"b": 0.12345678901234567890123}',
        b'{"a": 99999999999999999999}',
        b"broken",
    ]
    exact = with_columns_for(values[:2], JSON)
    kept_before = {at for at, row in rows(typed_files(exact, values)[0]).items() if row["__value"] is not None}
    files, _ = typed_files(replace(exact, keeping=ValueKeeping.NEVER), values)
    found = rows(files)
    kept = {at for at, row in found.items() if row["__value"] is not None}
    assert kept == {3, 4, 5, 6, 7} < kept_before
    back = replayed(files)
    assert back[1] == b'{"a":2,"b":0.5,"c":"x"}'
    assert {at: back[at] for at in kept} == {at: values[at] for at in kept}
    assert (found[1]["a"], found[1]["b"], found[1]["c"]) == (2, 0.5, "x")


def test_avro_in_several_blocks_comes_back_in_one() -> None:
    schema = fastavro.parse_schema(json.loads(schema_text(7)))
    two_blocks = b"\0\0\0\0\7" + b"\x02" + b"\x00" + b"\x02\x02a\x02b" + b"\x02\x02c\x02d" + b"\x00"
    files, _ = typed_files(replace(CONTRACT, keeping=ValueKeeping.NEVER), [two_blocks])
    assert rows(files)[0]["__value"] is None
    back = replayed(files)[0]
    assert back is not None
    assert back != two_blocks

    def read(value: bytes) -> Any:
        return fastavro.schemaless_reader(io.BytesIO(value[5:]), schema, None)  # type: ignore[call-arg]

    assert read(back) == read(two_blocks) == {"id": 1, "name": None, "tags": {"a": "b", "c": "d"}}


@pytest.mark.parametrize(
    ("value", "back", "kept"),
    [
        (b"\0\x08\x07\x12\x01a", b"\0\x08\x07\x12\x01a", False),
        (b"\0\x12\x01a\x08\x07", b"\0\x08\x07\x12\x01a", False),
        (b"\x02\x00\x08\x07\x12\x01a", b"\0\x08\x07\x12\x01a", False),
        (b"\0\x08\x07\x1a\x01?", b"\0\x08\x07\x1a\x01?", True),
    ],
    ids=["as it is", "fields in another order", "the message's place spelled out", "a field that nobody knows"],
)
def test_protobuf_is_put_in_order_and_unknown_fields_are_not_lost(value: bytes, back: bytes, kept: bool) -> None:
    parsed = ProtobufFormat().parse('syntax = "proto3"; message Order { int64 id = 1; string item = 2; }', [])
    writer = protobuf_writer(parsed, number=7, framed=True)
    contract = TopicContract(
        mode=ValueMode.FRAMED,
        layout=Layout().merged(protobuf_columns(parsed)),
        writers=(writer,),
        declared=True,
        keeping=ValueKeeping.NEVER,
    )
    files, _ = typed_files(contract, [b"\0\0\0\0\7" + value])
    assert replayed(files)[0] == b"\0\0\0\0\7" + back
    assert (rows(files)[0]["__value"] is not None) is kept


def test_a_key_that_is_twice_in_nested_text_is_not_lost() -> None:
    values: list[bytes | None] = [
        b'{"a": [[{"x": 1, "x": 2}]], "b": 5e-1}',
        b'{"a": [[{"x": "\\\\"}]], "b": 5e-1}',
        b'{"a": [[{"\\\\": "\\"\\u0022", "\\\\": 2}]], "b": 5e-1}',
    ]
    contract = with_columns_for(values, replace(JSON, keeping=ValueKeeping.NEVER))
    files, _ = typed_files(contract, values)
    assert [row["__value"] is not None for row in rows(files).values()] == [True, False, True]
    assert replayed(files)[0] == values[0]


class Watched:
    """A codec that counts the rows it is asked to decode."""

    def __init__(self, codec: ValueCodec) -> None:
        self._codec = codec
        self.rows = 0

    def decode(self, values: pa.BinaryArray) -> Decoded:
        self.rows += len(values)
        return self._codec.decode(values)


@pytest.mark.parametrize(
    ("value", "tried", "exact"), [(b'{"a":\t1}', 3, 3), (b'{"a": 1, "no column": 2}', 1, 0)], ids=["of use", "of none"]
)
def test_odd_values_are_written_anew_as_long_as_it_is_of_use(value: bytes, tried: int, exact: int) -> None:
    codec = Watched(bind_json(JSON_WRITER, Layout().merged([Wanted(key="a", kind="long")]), declared=True))
    values = pa.array([value] * (3 * ROWS_AT_ONCE), pa.binary())
    decoded = codec.decode(values)
    odd = decoded._replace(exact=np.zeros(len(values), np.bool_))  # tabs are a shape like any other
    codec.rows = 0
    found = restated(JSON_WRITER, cast(ValueCodec, codec), values, odd)
    assert (codec.rows, int(found.exact.sum())) == (tried * ROWS_AT_ONCE, exact * ROWS_AT_ONCE)
    assert found.columns.column("a").to_pylist() == [1] * len(values)


def test_protobuf_values_are_written_anew_many_at_once() -> None:
    parsed = ProtobufFormat().parse('syntax = "proto3"; message Order { int64 id = 1; string item = 2; }', [])
    writer = protobuf_writer(parsed, number=7, framed=True)
    odd = [b"\0\x12\x01%c\x08%c" % (97 + at % 20, at % 100 + 1) for at in range(ROWS_AT_ONCE + 5)]
    values = [*odd, b"\0\x08\x07\x1a\x01?", b"\2\2\x08\x07"]  # a field that nobody knows; another message
    codec = bind_protobuf(writer, Layout().merged(protobuf_columns(parsed)))
    array = pa.array(values, pa.binary())
    found = restated(writer, codec, array, codec.decode(array))
    assert found.exact.tolist() == [True] * len(odd) + [False, False]
    back = codec.encode(found.columns.slice(0, len(odd)), None).to_pylist()
    assert back == [b"\0" + one[4:] + one[1:4] for one in odd]
