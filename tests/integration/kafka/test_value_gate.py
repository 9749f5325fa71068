"""`lakestream.validate`: values that do not fit the topic's schemas are refused, record by record named."""

import json
from typing import Any

import pytest

from lakestream.contract.registry.registry import Registry
from lakestream.contract.registry.submitted import Submitted
from lakestream.model.registry import SchemaFormat
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

    def registered(subject: str, text: str, format: SchemaFormat = SchemaFormat.AVRO) -> bytes:
        """The frame of its values."""
        version = lakestream.run(registry.register(subject, Submitted(format=format, text=text)))
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


def test_without_validation_everything_is_stored(name: str, client: WireClient) -> None:
    client.create_topic(name, lakestream_value_format="avro")
    assert ok(client.produce(name, batch([b"anything", None])))
