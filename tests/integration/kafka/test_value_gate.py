"""`lakestream.validate`: values that do not fit the topic's schemas are refused, record by record named."""

import json
from typing import Any

import pytest

from lakestream.contract.registry.registry import Registry
from lakestream.contract.registry.submitted import Submitted
from lakestream.model.registry import SchemaFormat, SchemaReference
from lakestream.world.threads import InlineThreads

from .batches import LZ4, NONE, batch
from .running import Running
from .wire_client import WireClient

INVALID_RECORD = 87
AVRO = json.dumps({"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]})
PROTOBUF = 'syntax = "proto3"; message R { string name = 1; } message Other { string name = 1; }'
NO_FRAME = "the value does not begin with a zero and a schema id: use a serializer of the schema registry"


@pytest.fixture
def register(lakestream: Running) -> Any:
    registry = Registry(store=lakestream.local.brokers[0].store.registry, threads=InlineThreads())

    def registered(
        subject: str, text: str, format: SchemaFormat = SchemaFormat.AVRO, *references: SchemaReference
    ) -> bytes:
        """The frame of its values."""
        submitted = Submitted(format=format, text=text, references=references)
        version = lakestream.run(registry.register(subject, submitted))
        return b"\0" + version.schema.id.to_bytes(4, "big")

    return registered


def problems(answer: Any) -> list[tuple[int, str]]:
    return [(each.batch_index, each.batch_index_error_message) for each in answer.record_errors]


def ok(answer: Any) -> bool:
    return bool(answer.error_code.value == 0)


@pytest.mark.parametrize("codec", [NONE, LZ4])
def test_under_id_every_value_names_a_schema_of_the_topics_subject(
    name: str, client: WireClient, register: Any, codec: int
) -> None:
    client.create_topic(name, lakestream_validate="id")
    own, foreign = register(f"{name}-value", AVRO), register(f"{name}-other", AVRO.replace('"n"', '"m"'))
    assert ok(client.produce(name, batch([own + b"\x02", None, own + b"unreadable"], codec=codec)))
    unknown = b"\0\x7f\0\0\0"
    refused = client.produce(name, batch([own, b"plain", foreign, None, unknown], codec=codec))
    assert (refused.error_code.value, refused.base_offset) == (INVALID_RECORD, -1)
    assert "3 of 5 values" in refused.error_message
    number = int.from_bytes(foreign[1:], "big")
    assert problems(refused) == [
        (1, NO_FRAME),
        (2, f"schema {number} is no version of the subject '{name}-value': register it there"),
        (4, f"schema {0x7F000000} is no version of the subject '{name}-value': register it there"),
    ]
    assert client.produce(name, batch([own])).base_offset == 3


def test_a_schema_counts_as_soon_as_it_is_registered(name: str, client: WireClient, register: Any) -> None:
    client.create_topic(name, lakestream_validate="id")
    first = register(f"{name}-value", AVRO)
    assert ok(client.produce(name, batch([first])))
    second = register(f"{name}-value", AVRO.replace("int", "long"))
    assert ok(client.produce(name, batch([first, second])))


@pytest.mark.parametrize("count", [1, 20_000])
def test_under_full_values_can_be_read_by_their_schema(
    name: str, client: WireClient, register: Any, count: int
) -> None:
    """Few are read on the spot, many in a thread."""
    client.create_topic(name, lakestream_validate="full")
    avro = register(f"{name}-value", AVRO)
    wider = register(f"{name}-value", AVRO.replace("int", "long"))
    assert ok(client.produce(name, batch([avro + b"\x02", wider + b"\x04", None] * count)))
    refused = client.produce(name, batch([avro + b"\x02"] * count + [avro, wider + b"\x04\x00", b""]))
    assert refused.error_code.value == INVALID_RECORD
    assert [index for index, _ in problems(refused)] == [count, count + 1, count + 2]
    assert all(reason.startswith("schema ") for _, reason in problems(refused)[:2])


def test_protobuf_values_are_of_the_topics_message(name: str, client: WireClient, register: Any) -> None:
    client.create_topic(name, lakestream_validate="full", lakestream_value_format="protobuf")
    frame = register(f"{name}-value", PROTOBUF, SchemaFormat.PROTOBUF)
    assert ok(client.produce(name, batch([frame + b"\0\x0a\x01a"])))
    refused = client.produce(name, batch([frame + b"\0\x0a\x05a", frame + b"\x02\x02\x0a\x01a"]))
    number = int.from_bytes(frame[1:], "big")
    assert problems(refused) == [
        (0, f"schema {number}: field 'name': ends after 1 of 5 bytes"),
        (1, f"schema {number}: the value is a Other, and the topic's message is R: see lakestream.value.message"),
    ]


def test_values_without_ids_are_read_as_the_topic_says(name: str, client: WireClient, register: Any) -> None:
    client.create_topic(name, lakestream_validate="full", lakestream_value_format="json")
    assert ok(client.produce(name, batch([b'{"a": 1}', None])))
    assert [index for index, _ in problems(client.produce(name, batch([b'{"a": 1}', b"{"])))] == [1]

    client.create_topic(f"{name}-s", lakestream_validate="id", lakestream_value_format="string")
    assert ok(client.produce(f"{name}-s", batch(["größe".encode()])))
    assert [index for index, _ in problems(client.produce(f"{name}-s", batch([b"\xff"])))] == [0]

    latest = f"{name}-l"
    client.create_topic(
        latest, lakestream_validate="full", lakestream_value_format="protobuf", lakestream_value_schema="latest"
    )
    (problem,) = problems(client.produce(latest, batch([b"\x0a\x01a"])))
    assert problem == (0, f"the subject '{latest}-value' has no schema: register one")
    register(f"{latest}-value", PROTOBUF, SchemaFormat.PROTOBUF)
    assert ok(client.produce(latest, batch([b"\x0a\x01a"])))
    assert not ok(client.produce(latest, batch([b"\x0a\x05a"])))


JSON_SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "integer", "minimum": 1}, "sku": {"type": "string"}},
    "required": ["id"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("count", [1, 3_000])
def test_under_full_a_json_schema_holds_in_all_its_keywords(
    name: str, client: WireClient, register: Any, count: int
) -> None:
    """Few are held against it on the spot, many in a thread."""
    client.create_topic(name, lakestream_validate="full", lakestream_value_format="json", lakestream_value_schema="id")
    frame = register(f"{name}-value", json.dumps(JSON_SCHEMA), SchemaFormat.JSON)
    schema = f"schema {int.from_bytes(frame[1:], 'big')}: "
    good = [frame + b'{"id": 1}', None, frame + b'{"sku": "a", "id": 2}'] * count
    assert ok(client.produce(name, batch(good)))
    bad = [b'{"sku": "a"}', b'{"id": 0}', b'{"id": 1, "x": 1}', b'{"id": 1, "sku": null}', b'{"id": "1"}', b'{"id": 1']
    refused = client.produce(name, batch([*good, *[frame + one for one in bad]]))
    assert refused.error_code.value == INVALID_RECORD
    assert problems(refused) == [
        (3 * count + at, schema + reason)
        for at, reason in enumerate(
            [
                'required at /: "id" is a required property',
                "minimum at /id: 0 is less than the minimum of 1",
                "additionalProperties at /: Additional properties are not allowed ('x' was unexpected)",
                'type at /sku: null is not of type "string"',
                "field 'id' (byte 7): a string where long is declared",
                "byte 8: ends within the object",
            ]
        )
    ]
    assert client.produce(name, batch(good)).base_offset == 3 * count


def test_under_id_the_keywords_of_a_json_schema_ask_nothing(name: str, client: WireClient, register: Any) -> None:
    for validation in ("id", "full"):
        client.create_topic(
            f"{name}-{validation}",
            lakestream_validate=validation,
            lakestream_value_format="json",
            lakestream_value_schema="latest",
            lakestream_value_subject=name,
        )
    register(name, json.dumps(JSON_SCHEMA), SchemaFormat.JSON)
    both = batch([b'{"id": 1}', b'{"id": 0}'])
    assert ok(client.produce(f"{name}-id", both))
    assert problems(client.produce(f"{name}-full", both)) == [(1, "minimum at /id: 0 is less than the minimum of 1")]


def test_keywords_are_held_in_the_schemas_of_other_subjects_too(name: str, client: WireClient, register: Any) -> None:
    client.create_topic(name, lakestream_validate="full", lakestream_value_format="json", lakestream_value_schema="id")
    register(f"{name}-size", '{"maximum": 3}', SchemaFormat.JSON)
    text = '{"type": "object", "properties": {"size": {"$ref": "size.json"}}}'
    frame = register(f"{name}-value", text, SchemaFormat.JSON, SchemaReference("size.json", f"{name}-size", 1))
    refused = client.produce(name, batch([frame + b'{"size": 3}', frame + b'{"size": 4}']))
    number = int.from_bytes(frame[1:], "big")
    assert problems(refused) == [(1, f"schema {number}: maximum at /size: 4 is greater than the maximum of 3")]


def test_a_schema_of_simple_types_does_not_allow_null(name: str, client: WireClient, register: Any) -> None:
    client.create_topic(name, lakestream_validate="full", lakestream_value_format="json", lakestream_value_schema="id")
    simple = {"type": "object", "properties": {"id": {"type": "integer"}, "sku": {"type": "string"}}}
    frame = register(f"{name}-value", json.dumps(simple), SchemaFormat.JSON)
    refused = client.produce(
        name, batch([frame + b'{"id": 1, "sku": "a"}', frame + b'{"id": 1}', frame + b'{"id": null}'])
    )
    assert [index for index, _ in problems(refused)] == [2]


def test_a_schema_that_no_value_can_be_held_against_refuses_them_and_stalls_nobody(
    name: str, client: WireClient, register: Any
) -> None:
    client.create_topic(name, lakestream_validate="full", lakestream_value_format="json", lakestream_value_schema="id")
    doubled = {f"d{at}": {"allOf": [{"$ref": f"#/definitions/d{at + 1}"}] * 2} for at in range(60)}
    schema = {"definitions": {**doubled, "d60": {"type": "object"}}, "$ref": "#/definitions/d0"}
    frame = register(f"{name}-value", json.dumps(schema), SchemaFormat.JSON)
    ((index, reason),) = problems(client.produce(name, batch([frame + b"{}"])))
    assert (index, "simplify it, or set lakestream.validate=id" in reason) == (0, True)


@pytest.mark.parametrize("validation", ["id", "full"])
def test_keys_with_ids_are_checked_as_values_are(name: str, client: WireClient, register: Any, validation: str) -> None:
    client.create_topic(
        name, lakestream_validate=validation, lakestream_value_format="string", lakestream_key_format="avro"
    )
    frame = register(f"{name}-key", '"long"')
    number = int.from_bytes(frame[1:], "big")
    assert ok(client.produce(name, batch([b"v"] * 3, keys=[frame + b"\x02", None, frame + b"\x04"])))
    refused = client.produce(name, batch([b"v"] * 3, keys=[b"plain", frame + b"\x02", frame]))
    assert "keys are not what the topic takes" in refused.error_message
    found = [(0, "key: " + NO_FRAME.replace("the value", "it"))]
    if validation == "full":
        found.append((2, f"key: schema {number}: field 'value': ends after 0 bytes"))
    assert [index for index, _ in problems(refused)] == [index for index, _ in found]
    assert problems(refused)[0] == found[0]
    assert all(reason.startswith("key: ") for _, reason in problems(refused))


def test_json_keys_may_be_single_values(name: str, client: WireClient, register: Any) -> None:
    client.create_topic(
        name, lakestream_validate="full", lakestream_value_format="string", lakestream_key_format="json"
    )
    good = [b'"abc"', b"17", b"true", b'{"id": 1}', None]
    assert ok(client.produce(name, batch([b"v"] * 5, keys=good)))
    bad = [b"abc", b'"a', b"017", b'1,"x":2', b"[1"]
    refused = client.produce(name, batch([b"v"] * 6, keys=[*bad, b"17"]))
    assert [index for index, _ in problems(refused)] == [0, 1, 2, 3, 4]
    assert problems(refused)[2] == (2, "key: a number begins with a needless zero")

    framed = f"{name}-framed"
    client.create_topic(
        framed,
        lakestream_validate="full",
        lakestream_value_format="string",
        lakestream_key_format="json",
        lakestream_key_schema="id",
    )
    frame = register(f"{framed}-key", '{"type": "string", "maxLength": 3}', SchemaFormat.JSON)
    number = int.from_bytes(frame[1:], "big")
    keys = [frame + b'"abc"', frame + b'"abcd"', frame + b"17", frame + b"{}"]
    refused = client.produce(framed, batch([b"v"] * 4, keys=keys))
    assert problems(refused) == [
        (1, f'key: schema {number}: maxLength at /: "abcd" is longer than 3 characters'),
        (2, f"key: schema {number}: a number where string is declared"),
        (3, f'key: schema {number}: type at /: {{}} is not of type "string"'),
    ]
    assert ok(client.produce(framed, batch([b"v"], keys=[frame + b'"abc"'])))


def test_of_keys_that_nobody_described_nothing_is_asked(name: str, client: WireClient, register: Any) -> None:
    client.create_topic(
        name, lakestream_validate="full", lakestream_value_format="string", lakestream_key_format="auto"
    )
    assert ok(client.produce(name, batch([b"v"], keys=[b"\xff anything"])))


def test_without_validation_everything_is_stored(name: str, client: WireClient) -> None:
    client.create_topic(name, lakestream_value_format="avro")
    assert ok(client.produce(name, batch([b"anything", None])))
