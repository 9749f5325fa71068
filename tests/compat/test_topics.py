"""Topics made, seen, changed and removed through every client's administration calls, and what is refused."""

import uuid

import pytest

from .clients.client import Client, Refused
from .clients.java import Java
from .conftest import NewTopic, OpenClient
from .samples import sample_records
from .visible import until_config, until_partitions

UNKNOWN_TOPIC_OR_PARTITION = 3
MESSAGE_TOO_LARGE = 10
INVALID_TOPIC = 17
TOPIC_ALREADY_EXISTS = 36
INVALID_PARTITIONS = 37
INVALID_CONFIG = 40


def test_a_topic_is_seen_by_every_client_and_gone_after_its_deletion(
    client: Client, open_client: OpenClient, new_topic: NewTopic
) -> None:
    topic = new_topic(client, partitions=3)
    other = open_client("kafka-python" if client.name != "kafka-python" else "aiokafka")
    until_partitions(client, topic, 3)
    until_partitions(other, topic, 3)
    client.delete_topic(topic)
    until_partitions(client, topic, 0)
    until_partitions(other, topic, 0)


def test_added_partitions_can_be_written(client: Client, new_topic: NewTopic) -> None:
    topic = new_topic(client, partitions=1)
    client.add_partitions(topic, 4)
    until_partitions(client, topic, 4)
    records = sample_records(null_header_values=False)[:5]
    assert client.write(topic, 3, "none", records) == [0, 1, 2, 3, 4]


def test_a_config_is_shown_as_it_was_set_at_creation_and_later(client: Client, new_topic: NewTopic) -> None:
    topic = new_topic(client, retention_ms="7200000")
    assert client.configs(topic)["retention.ms"] == "7200000"
    client.set_config(topic, "retention.ms", "3600000")
    until_config(client, topic, "retention.ms", "3600000")


def test_writing_to_a_topic_that_is_not_there_creates_it(client: Client) -> None:
    topic = f"compat-auto-{uuid.uuid4().hex[:12]}"
    records = sample_records(null_header_values=False)[:3]
    assert client.write(topic, 0, "none", records) == [0, 1, 2]
    assert [read.record for read in client.read(topic, 0, 0, 3)] == records


def test_javas_producer_goes_on_in_a_topic_that_was_deleted_and_made_anew(java: Java, new_topic: NewTopic) -> None:
    assert java.write_across_recreation(new_topic(java)) == [0, 0, 1]


@pytest.mark.parametrize("name", ["", "white space", "a/b", "x" * 250, ".."])
def test_a_bad_topic_name_is_refused(name: str, open_client: OpenClient) -> None:
    with pytest.raises(Refused) as refused:
        open_client("aiokafka").create_topic(name, 1, {})
    assert refused.value.code == INVALID_TOPIC


def test_a_topic_cannot_be_created_twice(client: Client, new_topic: NewTopic) -> None:
    topic = new_topic(client)
    with pytest.raises(Refused) as refused:
        client.create_topic(topic, 1, {})
    assert refused.value.code == TOPIC_ALREADY_EXISTS


def test_an_unknown_config_is_refused(client: Client) -> None:
    with pytest.raises(Refused) as refused:
        client.create_topic("compat-unknown-config", 1, {"no.such.config": "1"})
    assert refused.value.code == INVALID_CONFIG
    assert client.partition_count("compat-unknown-config") == 0


def test_partitions_cannot_be_taken_away(client: Client, new_topic: NewTopic) -> None:
    topic = new_topic(client, partitions=3)
    with pytest.raises(Refused) as refused:
        client.add_partitions(topic, 2)
    assert refused.value.code == INVALID_PARTITIONS


def test_a_topic_that_is_not_there_cannot_be_deleted(client: Client) -> None:
    with pytest.raises(Refused) as refused:
        client.delete_topic("compat-never-created")
    assert refused.value.code == UNKNOWN_TOPIC_OR_PARTITION


def test_a_batch_above_the_limit_of_its_topic_is_refused(client: Client, new_topic: NewTopic) -> None:
    topic = new_topic(client, max_message_bytes="10000")
    big = [record for record in sample_records(null_header_values=False) if len(record.value or b"") > 10_000]
    assert len(big) == 1
    with pytest.raises(Refused) as refused:
        client.write(topic, 0, "none", big)
    assert refused.value.code == MESSAGE_TOO_LARGE
    assert client.bounds(topic, 0) == (0, 0)
