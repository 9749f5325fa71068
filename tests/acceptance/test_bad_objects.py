"""Objects that are gone or damaged behind the index: their partition says so, by name in the log; no other notices.

One data folder, each topic in a segment of its own. The broker is stopped, objects are harmed, and a broker with a
cold cache is started.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka as ck
import pytest

from tests.integration.kafka.batches import batch, records
from tests.integration.kafka.wire_client import WireClient
from tests.integration.up_process import Up

from .broker_process import broker_pids
from .bystander import bystander

KAFKA_STORAGE_ERROR = 56
FIRST_BATCH_AT, LAST_OFFSET_DELTA_AT = 4, 23
TOPICS = ("gone", "flipped", "cut", "misnumbered", "healthy")
PATIENCE_SECONDS = 30
NOT_INLINE = ("--set", "wal.inline_bytes_max=0")
"""Otherwise small flushes of all topics would be moved into one object together."""


def value_of(topic: str) -> bytes:
    return b"the value of " + topic.encode()


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The one object of each topic, in a data folder that nothing runs on."""
    data = tmp_path_factory.mktemp("harmed") / "data"
    with Up(data, *NOT_INLINE) as up, WireClient(up.kafka) as client:
        for topic in TOPICS:
            client.create_topic(topic)
            assert client.produce(topic, batch([value_of(topic)])).error_code.value == 0
        assert up.stop() == 0
    contents = {path: path.read_bytes() for path in (data / "objects").rglob("*.lsg")}
    return {topic: next(path for path, content in contents.items() if value_of(topic) in content) for topic in TOPICS}


@pytest.fixture(scope="module")
def up(objects: dict[str, Path]) -> Iterator[Up]:
    """Started on what is left. The same process serves all of this file while a bystander works."""
    assert len(set(objects.values())) == len(TOPICS), "each topic has a segment of its own"
    objects["gone"].unlink()
    flip(objects["flipped"], objects["flipped"].read_bytes().index(value_of("flipped")))
    flip(objects["misnumbered"], FIRST_BATCH_AT + LAST_OFFSET_DELTA_AT)
    os.truncate(objects["cut"], FIRST_BATCH_AT + 20)
    data = next(folder for folder in objects["gone"].parents if folder.name == "data")
    with Up(data) as running:
        started = broker_pids(running)
        with bystander(running.kafka):
            yield running
        assert broker_pids(running) == started, "a broker process was replaced"
        assert running.stop() == 0
        assert "Traceback" not in running.said()


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0x40
    path.write_bytes(content)


@pytest.mark.parametrize("topic", ["gone", "cut", "misnumbered"])
def test_what_cannot_be_read_is_a_storage_error_that_names_the_object(
    topic: str, up: Up, objects: dict[str, Path]
) -> None:
    with WireClient(up.kafka) as client:
        for _ in range(20):  # a consumer asks again and again
            answer = client.fetch(topic, 0)
            assert answer.error_code.value == KAFKA_STORAGE_ERROR
            assert not answer.records
        healthy = client.fetch("healthy", 0)
        assert [record.value for record in records(healthy.records)] == [value_of("healthy")]
    up.wait_until_said("records cannot be read")
    told = [line for line in up.said().splitlines() if objects[topic].stem in line and "cannot be read" in line]
    assert len(told) == 1, "named, but not at every try"
    assert "estore the object" in told[0]
    shown = {one["name"]: one["lost"] for one in up.status()["topics"]}
    (loss,) = shown[topic]
    assert (loss["partition"], loss["offset"]) == (0, 0)
    assert objects[topic].stem in loss["problem"] and "estore the object" in loss["problem"]
    assert shown["healthy"] == [], "no other topic is concerned"


def test_a_partition_with_a_lost_object_takes_new_records(up: Up) -> None:
    with WireClient(up.kafka) as client:
        offset = client.produce("gone", batch([b"new"])).base_offset
        assert offset == 1
        assert [record.value for record in records(client.fetch("gone", offset).records)] == [b"new"]


def test_a_flipped_bit_inside_a_batch_is_seen_by_the_consumers_checksum(up: Up) -> None:
    consumer = ck.Consumer({"bootstrap.servers": up.kafka, "group.id": "none", "check.crcs": True, "log_level": 0})
    consumer.assign([ck.TopicPartition("flipped", 0, 0)])
    seen = consumer.poll(PATIENCE_SECONDS)
    consumer.close()
    assert seen is not None
    error = seen.error()
    assert error is not None
    assert error.code() == ck.KafkaError._BAD_MSG


@pytest.mark.parametrize("topic", ["gone", "cut"])
def test_looking_for_a_time_in_what_cannot_be_read_is_an_error_of_its_partition(topic: str, up: Up) -> None:
    with WireClient(up.kafka) as client:
        assert client.list_offset(topic, 1).error_code.value != 0
        assert client.list_offset("healthy", 1).offset == 0
        assert client.list_offset(topic, -2).offset == 0, "its bounds are known all the same"
