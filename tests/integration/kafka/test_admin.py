"""Administration of topics over the wire: create, delete, grow, describe."""

from typing import Any

import pytest

from lakestream.protocol.kafka.wire import messages

from .batches import batch
from .running import Running
from .wire_client import WireClient

UNKNOWN_TOPIC, INVALID_TOPIC, TOPIC_EXISTS, INVALID_PARTITIONS, INVALID_REPLICATION = 3, 17, 36, 37, 38
INVALID_ASSIGNMENT, INVALID_CONFIG, INVALID_REQUEST, UNKNOWN_TOPIC_ID = 39, 40, 42, 100
create, delete, grow = messages.api(19), messages.api(20), messages.api(37)


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


def test_any_replication_factor_is_taken_and_shown_as_one(name: str, client: WireClient) -> None:
    (answer,) = _create(client, _new(name, replication=3))
    assert (answer.error_code.value, answer.replication_factor) == (0, 1)


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
