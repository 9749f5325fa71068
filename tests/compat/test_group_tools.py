"""Administration of groups: Apache Kafka's own kafka-consumer-groups, and the admin clients of the libraries."""

import os
import re
import uuid
from datetime import UTC, datetime

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from kafka import TopicPartition as KafkaPythonPartition
from kafka.admin import KafkaAdminClient
from kafka.structs import OffsetAndMetadata

from .clients.java import Java
from .clients.members import Flavour, start_member, until, until_shared
from .conftest import GIVEN_BROKER, NewTopic
from .samples import STARTED_MS, STEP_MS, first_not_older, sample_records
from .test_java_tools import CONFIGS, Run, run

__all__ = ["run"]

GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
SHOWN_TYPES = {"eager": "Classic", "consumer": "Consumer"}
SECONDS_MAX = 15


@pytest.fixture
def group() -> str:
    return f"tools-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def topic(java: Java, new_topic: NewTopic) -> str:
    """Ten records in each of two partitions."""
    name = new_topic(java, partitions=2)
    for partition in range(2):
        java.write(name, partition, "none", sample_records(null_header_values=True)[:10])
    return name


def rows(said: str, topic: str) -> dict[int, tuple[str, str, str]]:
    """Of --describe: current offset, end and lag by partition."""
    found = re.findall(rf"{topic}\s+(\d+)\s+(\S+)\s+(\d+)\s+(\S+)", said)
    return {int(partition): (current, end, lag) for partition, current, end, lag in found}


@pytest.mark.parametrize("protocol", ["eager", "consumer"])
def test_kafka_consumer_groups_shows_a_group_at_work(
    run: Run, bootstrap: str, group: str, topic: str, protocol: str
) -> None:
    member = start_member(Flavour("confluent-kafka", protocol), bootstrap, group, topic, session_ms=6_000)
    try:
        until_shared([member], range(2))
        until(lambda: len(member.records) == 20, lambda: member.records)
        member.commit()
        assert group in run(GROUPS, "--list").splitlines()
        assert re.search(rf"{group}\s+Stable", run(GROUPS, "--list", "--state"))
        assert re.search(rf"{group}\s+{SHOWN_TYPES[protocol]}", run(GROUPS, "--list", "--type"))
        described = run(GROUPS, "--describe", "--group", group)
        assert rows(described, topic) == {0: ("10", "10", "0"), 1: ("10", "10", "0")}
        assert "rdkafka" in described
        members = run(GROUPS, "--describe", "--group", group, "--members", "--verbose")
        assert re.search(rf"{topic}.*0,\s?1", members)
        state = run(GROUPS, "--describe", "--group", group, "--state")
        assert "Stable" in state
        refused = run(GROUPS, "--delete", "--group", group)
        assert "GroupNotEmptyException" in refused
    finally:
        member.leave()


def test_kafka_consumer_groups_resets_offsets_and_deletes(run: Run, group: str, topic: str) -> None:
    base = ("--group", group, "--topic", topic)
    run(GROUPS, "--reset-offsets", "--to-offset", "4", "--execute", *base)
    assert rows(run(GROUPS, "--describe", "--group", group), topic) == {0: ("4", "10", "6"), 1: ("4", "10", "6")}
    run(GROUPS, "--reset-offsets", "--to-latest", "--dry-run", *base)
    assert rows(run(GROUPS, "--describe", "--group", group), topic)[0][0] == "4"
    for flags, expected in [
        (("--to-earliest",), "0"),
        (("--to-latest",), "10"),
        (("--shift-by", "-3"), "7"),
        (("--to-current",), "7"),
    ]:
        run(GROUPS, "--reset-offsets", *flags, "--execute", *base)
        assert rows(run(GROUPS, "--describe", "--group", group), topic)[1][0] == expected
    run(GROUPS, "--delete-offsets", "--group", group, "--topic", f"{topic}:1")
    assert set(rows(run(GROUPS, "--describe", "--group", group), topic)) == {0}
    run(GROUPS, "--delete", "--group", group)
    assert group not in run(GROUPS, "--list").splitlines()
    assert "GroupIdNotFoundException" in run(GROUPS, "--delete", "--group", group)


@pytest.mark.skipif(GIVEN_BROKER in os.environ, reason="Apache Kafka has other timeouts and bounds")
def test_kafka_configs_shows_and_sets_the_configs_of_a_group(run: Run, group: str) -> None:
    entity = ("--entity-type", "groups", "--entity-name", group)
    shown = run(CONFIGS, *entity, "--describe", "--all")
    assert "consumer.session.timeout.ms=12000" in shown and "consumer.heartbeat.interval.ms=300" in shown
    run(CONFIGS, *entity, "--alter", "--add-config", "consumer.session.timeout.ms=50000")
    assert "consumer.session.timeout.ms=50000" in run(CONFIGS, *entity, "--describe")
    run(CONFIGS, *entity, "--alter", "--delete-config", "consumer.session.timeout.ms")
    assert "consumer.session.timeout.ms" not in run(CONFIGS, *entity, "--describe")
    refused = run(CONFIGS, *entity, "--alter", "--add-config", "share.isolation.level=some", exit_code=1)
    assert "InvalidConfigurationException" in refused
    assert run(CONFIGS, "--entity-type", "client-metrics", "--describe").strip() == ""


def test_an_offset_by_time_is_that_of_the_record(run: Run, group: str, topic: str) -> None:
    third = datetime.fromtimestamp((STARTED_MS + STEP_MS + 1) / 1000, UTC)
    time = third.isoformat(timespec="milliseconds").removesuffix("+00:00")
    run(GROUPS, "--reset-offsets", "--to-datetime", time, "--execute", "--group", group, "--topic", topic)
    expected = first_not_older(sample_records(null_header_values=True)[:10], STARTED_MS + STEP_MS + 1)
    assert rows(run(GROUPS, "--describe", "--group", group), topic)[0][0] == str(expected)


def test_confluent_administers_groups(bootstrap: str, group: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 3), TopicPartition(topic, 1, 5)])
    admin.alter_consumer_group_offsets([wanted])[group].result(SECONDS_MAX)
    asked = [ConsumerGroupTopicPartitions(group)]
    found = admin.list_consumer_group_offsets(asked)[group].result(SECONDS_MAX)
    assert {each.partition: each.offset for each in found.topic_partitions} == {0: 3, 1: 5}
    assert group in {each.group_id for each in admin.list_consumer_groups().result(SECONDS_MAX).valid}
    described = admin.describe_consumer_groups([group])[group].result(SECONDS_MAX)
    assert (described.state.name, list(described.members)) == ("EMPTY", [])
    admin.delete_consumer_groups([group])[group].result(SECONDS_MAX)
    assert group not in {each.group_id for each in admin.list_consumer_groups().result(SECONDS_MAX).valid}


def test_kafka_python_administers_groups(bootstrap: str, group: str, topic: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        where = KafkaPythonPartition(topic, 0)
        admin.alter_group_offsets(group, {where: OffsetAndMetadata(6, "kept", -1)})
        [offsets] = admin.list_group_offsets(group).values()
        assert (offsets[where].offset, offsets[where].metadata) == (6, "kept")
        assert group in {each["group_id"] for each in admin.list_groups()}
        admin.delete_groups([group])
        assert group not in {each["group_id"] for each in admin.list_groups()}
    finally:
        admin.close()
