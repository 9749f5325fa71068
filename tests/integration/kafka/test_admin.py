"""Administration of topics over the wire: create, delete, grow, configure, describe."""

from typing import Any

import pytest

from lakestream.protocol.kafka.wire import messages

from .batches import batch
from .running import Running
from .wire_client import WireClient

UNKNOWN_TOPIC, INVALID_TOPIC, TOPIC_EXISTS, INVALID_PARTITIONS, INVALID_REPLICATION = 3, 17, 36, 37, 38
UNSUPPORTED_VERSION = 35
INVALID_ASSIGNMENT, INVALID_CONFIG, INVALID_REQUEST, UNKNOWN_TOPIC_ID = 39, 40, 42, 100
TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
create, delete, grow = messages.api(19), messages.api(20), messages.api(37)
describe, replace, edit, listing = messages.api(32), messages.api(33), messages.api(44), messages.api(74)


def _create(client: WireClient, *topics: Any, version: int = 7, validate_only: bool = False) -> list[Any]:
    return list(client.call(19, version, create.Request(topics=list(topics), validate_only=validate_only)).topics)


def _new(name: str, partitions: int = 1, replication: int = -1, **fields: Any) -> Any:
    return create.request.CreatableTopic(name=name, num_partitions=partitions, replication_factor=replication, **fields)


def _assigned(*partitions: tuple[int, list[int]]) -> list[Any]:
    return [
        create.request.CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
        for index, brokers in partitions
    ]


# --- CreateTopics


def test_a_created_topic_is_told_with_its_configs(name: str, client: WireClient, other_client: WireClient) -> None:
    config = create.request.CreatableTopicConfig(name="retention.ms", value="5000")
    (answer,) = _create(client, _new(name, partitions=5, configs=[config]))
    assert (answer.error_code.value, answer.num_partitions, answer.replication_factor) == (0, 5, 1)
    shown = {each.name: (each.value, each.config_source) for each in answer.configs}
    assert shown["retention.ms"] == ("5000", 1)
    assert shown["cleanup.policy"] == ("delete", 5)
    assert other_client.produce(name, batch(), partition=4).base_offset == 0


def test_counts_may_be_left_to_the_broker(name: str, client: WireClient) -> None:
    (answer,) = _create(client, _new(name, partitions=-1))
    assert (answer.error_code.value, answer.num_partitions) == (0, 1)


def test_validating_creates_nothing(name: str, client: WireClient) -> None:
    (answer,) = _create(client, _new(name, partitions=3), validate_only=True)
    assert (answer.error_code.value, answer.num_partitions, answer.topic_id) == (0, 3, None)
    (again,) = _create(client, _new(name, partitions=3))
    assert again.error_code.value == 0


WRONG = {
    "a bad name": (_new("no/such"), INVALID_TOPIC),
    "no partitions": (_new("wrong", partitions=0), INVALID_PARTITIONS),
    "too many partitions": (_new("wrong", partitions=1_000_000), INVALID_PARTITIONS),
    "no replicas": (_new("wrong", replication=0), INVALID_REPLICATION),
    "an unknown config": (
        _new("wrong", configs=[create.request.CreatableTopicConfig(name="no.such", value="1")]),
        INVALID_CONFIG,
    ),
    "a bad value": (
        _new("wrong", configs=[create.request.CreatableTopicConfig(name="retention.ms", value="soon")]),
        INVALID_CONFIG,
    ),
    "no value": (
        _new("wrong", configs=[create.request.CreatableTopicConfig(name="retention.ms", value=None)]),
        INVALID_CONFIG,
    ),
    "numbers and an assignment": (_new("wrong", assignments=_assigned((0, [1]))), INVALID_REQUEST),
    "a gap in the assignment": (
        _new("wrong", partitions=-1, assignments=_assigned((0, [1]), (2, [1]))),
        INVALID_ASSIGNMENT,
    ),
    "a broker twice": (_new("wrong", partitions=-1, assignments=_assigned((0, [1, 1]))), INVALID_ASSIGNMENT),
    "no broker": (_new("wrong", partitions=-1, assignments=_assigned((0, []))), INVALID_ASSIGNMENT),
}


@pytest.mark.parametrize("validate_only", [True, False])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_topic_is_refused_and_the_next_is_created(
    wrong: str, validate_only: bool, name: str, client: WireClient
) -> None:
    asked, code = WRONG[wrong]
    refused, accepted = _create(client, asked, _new(name), validate_only=validate_only)
    assert refused.error_code.value == code
    assert refused.error_message
    assert accepted.error_code.value == 0


def test_a_manual_assignment_says_how_many_partitions_there_are(name: str, client: WireClient) -> None:
    (answer,) = _create(client, _new(name, partitions=-1, assignments=_assigned((1, [2]), (0, [1]))))
    assert (answer.error_code.value, answer.num_partitions) == (0, 2)


def test_a_topic_that_exists_or_comes_twice_is_refused(topic: str, name: str, client: WireClient) -> None:
    assert [each.error_code.value for each in _create(client, _new(topic))] == [TOPIC_EXISTS]
    twice = f"{name}-twice"
    assert [(each.name, each.error_code.value) for each in _create(client, _new(twice), _new(twice))] == [
        (twice, INVALID_REQUEST)
    ]


# --- DeleteTopics


def test_a_deleted_topic_is_gone_everywhere_and_its_name_is_free(
    name: str, client: WireClient, lakestream: Running
) -> None:
    first = client.create_topic(name).topic_id
    client.produce(name, batch())
    (answer,) = client.call(20, 6, delete.Request(topics=[delete.request.DeleteTopicState(name=name)])).responses
    assert (answer.error_code.value, answer.name, answer.topic_id) == (0, name, first)
    second = client.create_topic(name).topic_id
    assert second != first
    assert client.produce(name, batch()).base_offset == 0


def test_topics_are_deleted_by_id_and_wrong_ones_are_told(name: str, client: WireClient) -> None:
    topic_id = client.create_topic(name).topic_id.bytes
    asked = [
        delete.request.DeleteTopicState(topic_id=topic_id),
        delete.request.DeleteTopicState(topic_id=bytes(15) + b"\x01"),
        delete.request.DeleteTopicState(name="nowhere"),
        delete.request.DeleteTopicState(name="both", topic_id=topic_id),
        delete.request.DeleteTopicState(),
        delete.request.DeleteTopicState(name="twice"),
        delete.request.DeleteTopicState(name="twice"),
    ]
    answers = client.call(20, 6, delete.Request(topics=asked)).responses
    assert [(each.name, each.error_code.value) for each in answers] == [
        (name, 0),
        (None, UNKNOWN_TOPIC_ID),
        ("nowhere", UNKNOWN_TOPIC),
        ("both", INVALID_REQUEST),
        (None, INVALID_REQUEST),
        ("twice", INVALID_REQUEST),
    ]


def test_a_topic_that_comes_by_name_and_by_id_is_kept(name: str, client: WireClient) -> None:
    topic_id = client.create_topic(name).topic_id.bytes
    asked = [delete.request.DeleteTopicState(topic_id=topic_id), delete.request.DeleteTopicState(name=name)]
    answers = client.call(20, 6, delete.Request(topics=asked)).responses
    assert [each.error_code.value for each in answers] == [INVALID_REQUEST] * 2
    assert client.produce(name, batch()).error_code.value == 0


# --- CreatePartitions


def test_a_topic_grows_and_its_new_partitions_work_at_once_at_every_broker(
    topic: str, client: WireClient, other_client: WireClient
) -> None:
    assert other_client.produce(topic, batch(), partition=0).base_offset == 0
    assert _grow(client, topic, 6) == 0
    assert other_client.produce(topic, batch(), partition=5).base_offset == 0
    assert other_client.fetch(topic, 0, partition=4).error_code.value == 0


@pytest.mark.parametrize(
    ("count", "assignments", "code"),
    [(3, None, INVALID_PARTITIONS), (0, None, INVALID_PARTITIONS), (5, 1, INVALID_ASSIGNMENT), (5, 2, 0)],
)
def test_growth_is_checked(count: int, assignments: int | None, code: int, topic: str, client: WireClient) -> None:
    assert _grow(client, topic, count, assignments=assignments) == code


def test_an_assignment_names_a_broker_for_each_new_partition(topic: str, client: WireClient) -> None:
    given = [grow.request.CreatePartitionsAssignment(broker_ids=each) for each in ([1], [])]
    asked = grow.request.CreatePartitionsTopic(name=topic, count=5, assignments=given)
    (answer,) = client.call(37, 3, grow.Request(topics=[asked])).results
    assert answer.error_code.value == INVALID_ASSIGNMENT


def test_validating_growth_grows_nothing(topic: str, client: WireClient) -> None:
    assert _grow(client, topic, 9, validate_only=True) == 0
    assert client.produce(topic, batch(), partition=8).error_code.value == UNKNOWN_TOPIC
    assert _grow(client, "nowhere", 9) == UNKNOWN_TOPIC


def _grow(
    client: WireClient, topic: str, count: int, *, assignments: int | None = None, validate_only: bool = False
) -> int:
    given = None
    if assignments is not None:
        given = [grow.request.CreatePartitionsAssignment(broker_ids=[1]) for _ in range(assignments)]
    asked = grow.request.CreatePartitionsTopic(name=topic, count=count, assignments=given)
    (answer,) = client.call(37, 3, grow.Request(topics=[asked], validate_only=validate_only)).results
    assert answer.name == topic
    return int(answer.error_code.value)


# --- configs


def _describe(client: WireClient, kind: int, name: str, keys: list[str] | None = None, version: int = 4) -> Any:
    resource = describe.request.DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    body = describe.Request(resources=[resource], include_synonyms=True, include_documentation=True)
    (answer,) = client.call(32, version, body).results
    return answer


def _value(client: WireClient, topic: str, key: str) -> tuple[str, int]:
    (shown,) = _describe(client, TOPIC, topic, [key]).configs
    return shown.value, shown.config_source


def _edit(client: WireClient, topic: str, *edits: tuple[str, int, str | None], validate_only: bool = False) -> int:
    configs = [edit.request.AlterableConfig(name=key, config_operation=op, value=value) for key, op, value in edits]
    resource = edit.request.AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=configs)
    (answer,) = client.call(44, 1, edit.Request(resources=[resource], validate_only=validate_only)).responses
    return int(answer.error_code.value)


WITHOUT_EFFECT = {
    "delete.retention.ms",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "index.interval.bytes",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "preallocate",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
    "unclean.leader.election.enable",
}
"""Configs that concern disks, replicas and a cleaner of which there is none."""


def test_every_topic_config_is_described(name: str, client: WireClient) -> None:
    client.create_topic(name, retention_ms="1000")
    configs = {each.name: each for each in _describe(client, TOPIC, name).configs}
    own = {name for name in configs if name.startswith("lakestream.")}
    assert {"lakestream.table.on-topic-delete", "lakestream.value.format"} <= own
    assert (
        set(configs) - own
        == {
            "cleanup.policy",
            "compression.type",
            "max.message.bytes",
            "message.timestamp.after.max.ms",
            "message.timestamp.before.max.ms",
            "message.timestamp.type",
            "retention.bytes",
            "retention.ms",
        }
        | WITHOUT_EFFECT
    )
    assert [(each.value, each.source) for each in configs["retention.ms"].synonyms] == [("1000", 1), ("-1", 5)]
    assert [(each.value, each.source) for each in configs["retention.bytes"].synonyms] == [("-1", 5)]
    assert configs["retention.ms"].config_type == 5
    assert all(each.documentation for each in configs.values())
    silent = {each.name for each in configs.values() if each.documentation.startswith("No effect here: ")}
    assert silent == WITHOUT_EFFECT


def test_what_kafka_streams_sets_on_its_topics_is_taken_and_shown(name: str, client: WireClient) -> None:
    client.create_topic(
        name, segment_bytes="52428800", cleanup_policy="delete", retention_ms="-1", message_timestamp_type="CreateTime"
    )
    (shown,) = _describe(client, TOPIC, name, ["segment.bytes"]).configs
    assert (shown.value, shown.config_source) == ("52428800", 1)
    assert shown.documentation.startswith("No effect here: ")
    assert _edit(client, name, ("segment.bytes", 0, "small")) == INVALID_CONFIG


def test_keys_filter_what_is_described(topic: str, client: WireClient) -> None:
    assert [each.name for each in _describe(client, TOPIC, topic, ["retention.ms", "no.such"]).configs] == [
        "retention.ms"
    ]
    assert len(_describe(client, TOPIC, topic, []).configs) > 20


def test_a_broker_describes_itself_and_no_other(client: WireClient) -> None:
    configs = {each.name: each for each in _describe(client, BROKER, "1").configs}
    assert configs["auto.create.topics.enable"].value == "true"
    assert configs["broker.id"].value == "1"
    assert all(each.read_only for each in configs.values())
    assert _describe(client, BROKER, "2").error_code.value == INVALID_REQUEST
    assert _describe(client, BROKER, "").configs == ()
    assert _describe(client, 8, "1").error_code.value == INVALID_REQUEST
    assert _describe(client, TOPIC, "nowhere").error_code.value == UNKNOWN_TOPIC
    assert _describe(client, TOPIC, "no/name").error_code.value == INVALID_TOPIC


def test_configs_are_edited_one_by_one(topic: str, client: WireClient) -> None:
    assert _edit(client, topic, ("retention.ms", 0, "1000"), ("retention.bytes", 0, "2000")) == 0
    assert _value(client, topic, "retention.ms") == ("1000", 1)
    assert _edit(client, topic, ("retention.ms", 1, None)) == 0
    assert _value(client, topic, "retention.ms") == ("-1", 5)
    assert _value(client, topic, "retention.bytes") == ("2000", 1)
    assert _edit(client, topic, ("cleanup.policy", 2, "delete")) == 0


def test_resetting_a_config_that_there_is_not_resets_the_others(topic: str, client: WireClient) -> None:
    assert _edit(client, topic, ("retention.ms", 0, "1000")) == 0
    assert _edit(client, topic, ("no.such", 1, None), ("retention.ms", 1, None)) == 0
    assert _value(client, topic, "retention.ms") == ("-1", 5)


def test_booleans_are_taken_in_any_case_and_kept_in_lower(name: str, client: WireClient) -> None:
    client.create_topic(name, preallocate="True")
    assert _value(client, name, "preallocate") == ("true", 1)
    assert _edit(client, name, ("preallocate", 0, "FALSE"), ("lakestream.table.enable", 0, "False")) == 0
    assert _value(client, name, "preallocate") == ("false", 1)
    assert _value(client, name, "lakestream.table.enable") == ("false", 1)
    assert _edit(client, name, ("preallocate", 0, "yes")) == INVALID_CONFIG


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([("no.such", 0, "1")], INVALID_CONFIG),
        ([("retention.ms", 0, "soon")], INVALID_CONFIG),
        ([("retention.ms", 0, None)], INVALID_CONFIG),
        ([("retention.ms", 2, "5")], INVALID_CONFIG),
        ([("cleanup.policy", 3, "delete")], INVALID_CONFIG),
        ([("retention.ms", 9, "5")], INVALID_REQUEST),
        ([("retention.ms", 0, "5"), ("retention.ms", 0, "6")], INVALID_REQUEST),
        ([("retention.ms", 0, "5"), ("no.such", 0, "6")], INVALID_CONFIG),
    ],
)
def test_a_wrong_edit_changes_nothing(
    edits: list[tuple[str, int, str | None]], code: int, topic: str, client: WireClient
) -> None:
    assert _edit(client, topic, *edits) == code
    assert _edit(client, topic, *edits, validate_only=True) == code
    assert _value(client, topic, "retention.ms") == ("-1", 5)


def test_validating_an_edit_changes_nothing(topic: str, client: WireClient) -> None:
    assert _edit(client, topic, ("retention.ms", 0, "1000"), validate_only=True) == 0
    assert _value(client, topic, "retention.ms") == ("-1", 5)
    assert _edit(client, "nowhere", ("retention.ms", 0, "1000")) == UNKNOWN_TOPIC


def test_replacing_configs_resets_what_is_not_named(topic: str, client: WireClient) -> None:
    _edit(client, topic, ("retention.ms", 0, "1000"))
    config = replace.request.AlterableConfig(name="retention.bytes", value="77")
    resource = replace.request.AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=[config])
    (answer,) = client.call(33, 2, replace.Request(resources=[resource])).responses
    assert answer.error_code.value == 0
    assert _value(client, topic, "retention.ms") == ("-1", 5)
    assert _value(client, topic, "retention.bytes") == ("77", 1)


@pytest.mark.parametrize("values", [("1", "2"), (None,)], ids=["twice", "no value"])
def test_a_wrong_replacement_changes_nothing(values: tuple[str | None, ...], topic: str, client: WireClient) -> None:
    _edit(client, topic, ("retention.bytes", 0, "77"))
    configs = [replace.request.AlterableConfig(name="retention.ms", value=value) for value in values]
    resource = replace.request.AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=configs)
    (answer,) = client.call(33, 2, replace.Request(resources=[resource])).responses
    assert answer.error_code.value == INVALID_REQUEST
    assert _value(client, topic, "retention.bytes") == ("77", 1)


def test_a_group_shows_what_its_members_must_keep_to(client: WireClient) -> None:
    shown = {each.name: (each.value, each.read_only) for each in _describe(client, GROUP, "any").configs}
    assert shown == {
        "consumer.heartbeat.interval.ms": ("5000", True),
        "consumer.session.timeout.ms": ("45000", True),
    }
    assert _describe(client, GROUP, "").error_code.value == INVALID_REQUEST


def test_topics_and_brokers_are_listed_as_what_has_configs(topic: str, client: WireClient) -> None:
    def listed(*types: int, version: int = 1) -> Any:
        return client.call(74, version, listing.Request(resource_types=list(types)))

    topics = {each.resource_name for each in listed(TOPIC).config_resources}
    assert topic in topics
    everything = {(each.resource_type, each.resource_name) for each in listed().config_resources}
    assert everything == {(TOPIC, name) for name in topics} | {(BROKER, "1"), (BROKER, "2")}
    assert listed(GROUP, CLIENT_METRICS).config_resources == ()
    assert listed(version=0).config_resources == ()
    assert listed(3).error_code.value == UNSUPPORTED_VERSION


def test_any_replication_factor_is_taken_and_shown_as_one(name: str, client: WireClient) -> None:
    (answer,) = _create(client, _new(name, replication=3))
    assert (answer.error_code.value, answer.replication_factor) == (0, 1)


def test_brokers_cannot_be_configured_and_nothing_twice_in_one_request(topic: str, client: WireClient) -> None:
    configs = [edit.request.AlterableConfig(name="retention.ms", value="9")]
    resources = [
        edit.request.AlterConfigsResource(resource_type=kind, resource_name=each, configs=configs)
        for kind, each in [(BROKER, "1"), (TOPIC, topic), (TOPIC, topic), (GROUP, "group")]
    ]
    answers = client.call(44, 1, edit.Request(resources=resources)).responses
    assert [each.error_code.value for each in answers] == [INVALID_REQUEST] * 4
    assert _value(client, topic, "retention.ms") == ("-1", 5)


def test_a_changed_config_counts_for_the_next_batch_at_this_broker(topic: str, client: WireClient) -> None:
    assert client.produce(topic, batch([bytes(500)])).error_code.value == 0
    assert _edit(client, topic, ("max.message.bytes", 0, "300")) == 0
    assert client.produce(topic, batch([bytes(500)])).error_code.value == 10


# --- DescribeLogDirs, DescribeTopicPartitions


def test_sizes_summed_over_brokers_are_those_of_the_partitions(
    topic: str, client: WireClient, other_client: WireClient
) -> None:
    sent = {partition: batch([bytes(100 * (partition + 1))]) for partition in range(3)}
    for partition, data in sent.items():
        client.produce(topic, data, partition=partition)
    api = messages.api(35)
    asked = [api.request.DescribableLogDirTopic(topic=topic, partitions=[0, 1, 2])]
    sizes = [
        (each.partition_index, each.partition_size)
        for one in (client, other_client)
        for result in one.call(35, 4, api.Request(topics=asked)).results
        for shown in result.topics
        for each in shown.partitions
    ]
    assert sorted(sizes) == [(partition, len(data)) for partition, data in sent.items()]


def test_topic_partitions_come_in_pages(name: str, client: WireClient) -> None:
    names = [f"{name}-{letter}" for letter in "abc"]
    for each in names:
        client.create_topic(each, partitions=4)
    api = messages.api(75)
    seen: list[tuple[str, int]] = []
    cursor = None
    for _ in range(4):
        topics = [api.request.TopicRequest(name=each) for each in names]
        page = client.call(75, 0, api.Request(topics=topics, response_partition_limit=3, cursor=cursor))
        seen += [(each.name, part.partition_index) for each in page.topics for part in each.partitions]
        for each in page.topics:
            assert all(part.eligible_leader_replicas == () == part.last_known_elr for part in each.partitions)
        if page.next_cursor is None:
            break
        cursor = api.request.Cursor(
            topic_name=page.next_cursor.topic_name, partition_index=page.next_cursor.partition_index
        )
    assert seen == [(each, index) for each in names for index in range(4)]
    assert page.next_cursor is None


def test_all_topics_are_described_when_none_is_named_and_wrong_ones_are_told(topic: str, client: WireClient) -> None:
    api = messages.api(75)
    assert topic in {each.name for each in client.call(75, 0, api.Request()).topics}
    asked = [api.request.TopicRequest(name=each) for each in ("nowhere", "no/name")]
    answers = client.call(75, 0, api.Request(topics=asked)).topics
    assert {each.name: each.error_code.value for each in answers} == {
        "nowhere": UNKNOWN_TOPIC,
        "no/name": INVALID_TOPIC,
    }
    cursor = api.request.Cursor(topic_name=topic, partition_index=-3)
    wrong = client.call(75, 0, api.Request(topics=asked[:1], cursor=cursor)).topics
    assert [each.error_code.value for each in wrong] == [INVALID_REQUEST]
