"""Consumer groups on the wire: who may do what, and what everyone else is told."""

from collections.abc import Iterator
from typing import Any

import pytest

from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.wire import messages

from .batches import batch
from .group_requests import (
    commit_request,
    committed,
    consumer_heartbeat_request,
    group_of_broker,
    group_of_first_broker,
    join_request,
    stable,
)
from .running import Running
from .wire_client import WireClient


@pytest.fixture
def group() -> str:
    return group_of_first_broker()


@pytest.fixture
def topic_id(topic: str, client: WireClient) -> bytes:
    api = messages.api(3)
    [found] = client.call(3, 12, api.Request(topics=[api.request.MetadataRequestTopic(name=topic)])).topics
    return bytes(found.topic_id.bytes)


def fetch_offsets(client: WireClient, group: str, topics: dict[str, list[int]] | None) -> Any:
    api = messages.api(9)
    asked = None
    if topics is not None:
        asked = [api.request.OffsetFetchRequestTopics(name=name, partition_indexes=ns) for name, ns in topics.items()]
    one = api.request.OffsetFetchRequestGroup(group_id=group, topics=asked, member_epoch=-1)
    [answer] = client.call(9, 9, api.Request(groups=[one])).groups
    return answer


def heartbeat(client: WireClient, group: str, member_id: str, generation: int) -> int:
    body = messages.api(12).Request(group_id=group, generation_id=generation, member_id=member_id)
    return int(client.call(12, 4, body).error_code.value)


def commit_code(client: WireClient, body: Any, version: int = 9) -> int:
    [[part]] = [topic.partitions for topic in client.call(8, version, body).topics]
    return int(part.error_code.value)


def list_groups(client: WireClient, **filters: list[str]) -> dict[str, tuple[str, str]]:
    body = messages.api(16).Request(**{"states_filter": [], "types_filter": [], **filters})
    return {each.group_id: (each.group_state, each.group_type) for each in client.call(16, 5, body).groups}


def test_only_the_coordinator_answers_for_a_group(client: WireClient, other_client: WireClient, topic: str) -> None:
    for index, (own, stranger) in enumerate([(client, other_client), (other_client, client)]):
        group = group_of_broker(index)
        found = client.call(10, 4, messages.api(10).Request(key_type=0, coordinator_keys=[group])).coordinators
        assert [each.node_id for each in found] == [index + 1]
        member_id, generation = stable(own, group)
        assert heartbeat(own, group, member_id, generation) == KafkaError.NONE
        assert heartbeat(stranger, group, member_id, generation) == KafkaError.NOT_COORDINATOR
        assert stranger.call(11, 5, join_request(5, group)).error_code.value == KafkaError.NOT_COORDINATOR
        assert commit_code(stranger, commit_request(group, topic, bytes(16))) == KafkaError.NOT_COORDINATOR


def test_any_broker_answers_for_the_offsets_of_a_group(
    client: WireClient, other_client: WireClient, topic: str, topic_id: bytes
) -> None:
    for index, (own, stranger) in enumerate([(client, other_client), (other_client, client)]):
        group = group_of_broker(index)
        committed(own, group, topic, topic_id)
        answer = fetch_offsets(stranger, group, None)
        assert answer.error_code.value == KafkaError.NONE
        assert [part.committed_offset for found in answer.topics for part in found.partitions] == [3]


def test_an_unknown_group_has_no_offsets_and_that_is_no_error(client: WireClient, group: str, topic: str) -> None:
    answer = fetch_offsets(client, group, {topic: [0, 99], "no-such-topic": [0]})
    assert answer.error_code.value == 0
    for each in answer.topics:
        for part in each.partitions:
            assert (part.committed_offset, part.committed_leader_epoch, part.error_code.value) == (-1, -1, 0)
    assert fetch_offsets(client, group, None).topics == ()


def test_offsets_come_back_with_their_metadata(client: WireClient, group: str, topic: str, topic_id: bytes) -> None:
    committed(client, group, topic, topic_id)
    [found] = fetch_offsets(client, group, None).topics
    [part] = found.partitions
    assert found.name == topic
    assert (part.committed_offset, part.committed_leader_epoch, part.metadata) == (3, 0, "here")


def test_partitions_of_a_commit_are_judged_one_by_one(client: WireClient, group: str, topic: str) -> None:
    api = messages.api(8)

    def part(number: int, metadata: str = "") -> Any:
        return api.request.OffsetCommitRequestPartition(
            partition_index=number, committed_offset=1, committed_leader_epoch=-1, committed_metadata=metadata
        )

    body = api.Request(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[
            api.request.OffsetCommitRequestTopic(name=topic, partitions=[part(0), part(1, "x" * 5_000), part(7)]),
            api.request.OffsetCommitRequestTopic(name="no-such-topic", partitions=[part(0)]),
        ],
    )
    codes = [each.error_code.value for one in client.call(8, 9, body).topics for each in one.partitions]
    unknown = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    assert codes == [KafkaError.NONE, KafkaError.OFFSET_METADATA_TOO_LARGE, unknown, unknown]


@pytest.mark.parametrize(("version", "code"), [(8, KafkaError.ILLEGAL_GENERATION), (9, KafkaError.GROUP_ID_NOT_FOUND)])
def test_a_commit_of_a_generation_that_never_was_is_refused(
    version: int, code: int, client: WireClient, group: str, topic: str
) -> None:
    body = commit_request(group, topic, bytes(16))
    body.generation_id_or_member_epoch, body.member_id = 5, "someone"
    assert commit_code(client, body, version) == code


def test_only_members_commit_for_a_group_that_has_some(client: WireClient, group: str, topic: str) -> None:
    member_id, generation = stable(client, group)
    body = commit_request(group, topic, bytes(16))
    assert commit_code(client, body) == KafkaError.UNKNOWN_MEMBER_ID
    body.member_id, body.generation_id_or_member_epoch = member_id, generation + 1
    assert commit_code(client, body) == KafkaError.ILLEGAL_GENERATION
    body.generation_id_or_member_epoch = generation
    assert commit_code(client, body) == KafkaError.NONE


def test_a_member_is_given_its_id_before_it_joins(client: WireClient, group: str) -> None:
    asked = client.call(11, 4, join_request(4, group))
    assert asked.error_code.value == KafkaError.MEMBER_ID_REQUIRED
    assert asked.member_id.startswith("raw-")
    answer = client.call(11, 4, join_request(4, group, asked.member_id))
    assert (answer.error_code.value, answer.member_id, answer.leader) == (0, asked.member_id, asked.member_id)


def test_a_join_that_waits_does_not_keep_others_waiting(client: WireClient, group: str, lakestream: Running) -> None:
    """The second member's join waits for the first to come back, which heartbeats on the same connection."""
    member_id, generation = stable(client, group)
    with WireClient(lakestream.addresses[0]) as second:
        second.send(11, 2, join_request(2, group, instance=None))
        codes = {heartbeat(client, group, member_id, generation) for _ in range(20)}
        assert codes <= {KafkaError.NONE, KafkaError.REBALANCE_IN_PROGRESS}
        answer = client.call(11, 2, join_request(2, group, member_id, instance=None))
        assert answer.error_code.value == 0
        assert len(answer.members) == 2
        assert second.receive(11, 2, 1).generation_id == answer.generation_id


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"group_id": ""}, KafkaError.INVALID_GROUP_ID),
        ({"session_timeout": 5}, KafkaError.INVALID_SESSION_TIMEOUT),
        ({"session_timeout": 10**9}, KafkaError.INVALID_SESSION_TIMEOUT),
        ({"member_id": "a-ghost"}, KafkaError.UNKNOWN_MEMBER_ID),
        ({"protocols": []}, KafkaError.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": "a\0b"}, KafkaError.INCONSISTENT_GROUP_PROTOCOL),
    ],
    ids=str,
)
def test_bad_joins_are_refused(change: dict[str, Any], code: int, client: WireClient, group: str) -> None:
    body = join_request(5, group)
    for name, value in change.items():
        setattr(body, name, value)
    assert client.call(11, 5, body).error_code.value == code


def test_a_group_name_with_a_nul_is_refused_also_where_a_database_would_choke(client: WireClient) -> None:
    names = (f"nul\0{number}" for number in range(1000))
    codes = {client.call(11, 5, join_request(5, next(names))).error_code.value for _ in range(5)}
    assert codes <= {KafkaError.INVALID_GROUP_ID}


def test_a_group_with_members_is_not_deleted_and_keeps_its_topics(
    client: WireClient, group: str, topic: str, topic_id: bytes
) -> None:
    body = consumer_heartbeat_request(group, [topic])
    assert client.call(68, 1, body).error_code.value == 0
    delete = messages.api(42).Request(groups_names=[group, "no-such-" + group])
    codes = [each.error_code.value for each in client.call(42, 2, delete).results]
    assert codes[0] == KafkaError.NON_EMPTY_GROUP
    assert codes[1] in (KafkaError.GROUP_ID_NOT_FOUND, KafkaError.NOT_COORDINATOR)
    api = messages.api(47)
    part = api.request.OffsetDeleteRequestPartition(partition_index=0)
    asked = api.Request(group_id=group, topics=[api.request.OffsetDeleteRequestTopic(name=topic, partitions=[part])])
    [[refused]] = [each.partitions for each in client.call(47, 0, asked).topics]
    assert refused.error_code.value == KafkaError.GROUP_SUBSCRIBED_TO_TOPIC
    client.call(68, 1, consumer_heartbeat_request(group, [topic], epoch=-1))
    deleted, _ = client.call(42, 2, delete).results
    assert deleted.error_code.value == KafkaError.NONE
    assert group not in list_groups(client)


def test_groups_are_listed_by_phase_and_type(client: WireClient, topic: str) -> None:
    classic, consumer = group_of_first_broker(), group_of_first_broker()
    stable(client, classic)
    client.call(68, 1, consumer_heartbeat_request(consumer, [topic]))
    listed = list_groups(client)
    assert listed[classic] == ("Stable", "classic")
    assert listed[consumer][1] == "consumer"
    assert consumer not in list_groups(client, types_filter=["Classic"])
    assert classic in list_groups(client, states_filter=["stable"])
    assert classic not in list_groups(client, states_filter=["Empty"])


@pytest.mark.parametrize(("version", "code"), [(5, KafkaError.NONE), (6, KafkaError.GROUP_ID_NOT_FOUND)])
def test_an_unknown_group_is_dead(version: int, code: int, client: WireClient, group: str) -> None:
    [found] = client.call(15, version, messages.api(15).Request(groups=[group])).groups
    assert (found.group_state, found.error_code.value) == ("Dead", code)


def test_the_newer_protocol_assigns_by_topic_id_and_fences_old_epochs(
    client: WireClient, group: str, topic: str, topic_id: bytes
) -> None:
    answer = client.call(68, 1, consumer_heartbeat_request(group, [topic]))
    [assigned] = answer.assignment.topic_partitions
    assert assigned.topic_id.bytes == topic_id
    assert list(assigned.partitions) == [0, 1, 2]
    stale = consumer_heartbeat_request(group, [topic], epoch=answer.member_epoch + 7)
    assert client.call(68, 1, stale).error_code.value == KafkaError.FENCED_MEMBER_EPOCH
    stranger = consumer_heartbeat_request(group, [topic], member_id="stranger", epoch=1)
    assert client.call(68, 1, stranger).error_code.value == KafkaError.UNKNOWN_MEMBER_ID
    commit = commit_request(group, topic, topic_id)
    commit.member_id, commit.generation_id_or_member_epoch = "member-1", answer.member_epoch
    assert commit_code(client, commit, 10) == KafkaError.NONE
    commit.generation_id_or_member_epoch += 1
    assert commit_code(client, commit, 10) == KafkaError.STALE_MEMBER_EPOCH


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"subscribed_topic_regex": "a(b"}, KafkaError.INVALID_REGULAR_EXPRESSION),
        ({"subscribed_topic_regex": "a" * 30_000}, KafkaError.INVALID_REGULAR_EXPRESSION),
        ({"server_assignor": "mine"}, KafkaError.UNSUPPORTED_ASSIGNOR),
        ({"server_assignor": "m" * 32_000}, KafkaError.UNSUPPORTED_ASSIGNOR),
        ({"member_id": ""}, KafkaError.INVALID_REQUEST),
        ({"subscribed_topic_names": None}, KafkaError.INVALID_REQUEST),
        ({"subscribed_topic_names": [f"t{n}" for n in range(30_000)]}, KafkaError.INVALID_REQUEST),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_heartbeats_of_the_newer_protocol_are_refused(
    change: dict[str, Any], code: int, client: WireClient, group: str, topic: str
) -> None:
    body = consumer_heartbeat_request(group, [topic])
    for name, value in change.items():
        setattr(body, name, value)
    answer = client.call(68, 1, body)
    assert answer.error_code.value == code
    assert answer.error_message


def test_a_subscription_by_expression_follows_new_topics(client: WireClient, group: str, name: str) -> None:
    client.create_topic(f"{name}-a")
    body = consumer_heartbeat_request(group, [])
    body.subscribed_topic_names, body.subscribed_topic_regex = None, f"{name}-.*"
    first = client.call(68, 1, body)
    assert len(first.assignment.topic_partitions) == 1
    client.create_topic(f"{name}-b")
    for _ in _bounded():
        again = consumer_heartbeat_request(group, [], epoch=first.member_epoch)
        again.subscribed_topic_names = again.topic_partitions = None
        answer = client.call(68, 1, again)
        if answer.assignment is not None:
            assert len(answer.assignment.topic_partitions) == 2
            return
    raise AssertionError("the new topic was not assigned")


@pytest.mark.parametrize("policy", ["compact", "compact,delete", "delete, compact"])
def test_a_compacted_topic_takes_only_records_with_keys(client: WireClient, name: str, policy: str) -> None:
    client.create_topic(name, cleanup_policy=policy)
    refused = client.produce(name, batch([b"a", b"b"]))
    assert refused.error_code.value == KafkaError.INVALID_RECORD
    assert [each.batch_index for each in refused.record_errors] == [0, 1]
    assert client.produce(name, batch([b"a"], key=b"k")).error_code.value == KafkaError.NONE


def test_an_unknown_cleanup_policy_is_refused(client: WireClient, name: str) -> None:
    with pytest.raises(AssertionError, match="40"):
        client.create_topic(name, cleanup_policy="compact,shred")


def _bounded() -> Iterator[int]:
    yield from range(200)
