"""What newer clients do with offsets: several groups in one request, topics by id, and operators beside members."""

import uuid
from typing import Any

import pytest

from lakestream.access.access import UNLIMITED
from lakestream.model.access import ResourceType
from lakestream.protocol.kafka.apis.operations import NOT_ASKED, authorized
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.wire import messages

from .group_requests import commit_request, committed, consumer_heartbeat_request, group_of_first_broker, stable
from .wire_client import WireClient

commit, fetch, metadata = messages.api(8), messages.api(9), messages.api(3)
NOBODYS_ID = uuid.uuid4().bytes
NO_ID = bytes(16)


@pytest.fixture
def group() -> str:
    return group_of_first_broker()


@pytest.fixture
def topic_id(topic: str, client: WireClient) -> bytes:
    [found] = client.call(3, 12, metadata.Request(topics=[metadata.request.MetadataRequestTopic(name=topic)])).topics
    return bytes(found.topic_id.bytes)


def asked(group: str, *topics: tuple[bytes, int], member: str | None = None, epoch: int = -1) -> Any:
    return fetch.request.OffsetFetchRequestGroup(
        group_id=group,
        member_id=member,
        member_epoch=epoch,
        topics=[fetch.request.OffsetFetchRequestTopics(topic_id=id, partition_indexes=[n]) for id, n in topics],
    )


def found(answer: Any) -> list[tuple[bytes, int, int, int]]:
    return [
        (
            NO_ID if each.topic_id is None else each.topic_id.bytes,
            part.partition_index,
            part.committed_offset,
            part.error_code.value,
        )
        for each in answer.topics
        for part in each.partitions
    ]


def test_several_groups_are_answered_each_for_itself(
    client: WireClient, group: str, topic: str, topic_id: bytes
) -> None:
    committed(client, group, topic, topic_id)
    joined = group_of_first_broker()
    client.call(68, 1, consumer_heartbeat_request(joined, [topic]))
    body = fetch.Request(
        require_stable=True,
        groups=[
            asked(group, (topic_id, 0), (topic_id, 1), (NOBODYS_ID, 0), (NO_ID, 0)),
            asked("no-such-group", (topic_id, 0)),
            asked(joined, (topic_id, 0), member="stranger", epoch=1),
            asked(joined, (topic_id, 0), member="member-1", epoch=7),
            asked(joined, (topic_id, 0), member="member-1", epoch=1),
        ],
    )
    known, absent, stranger, stale, member = client.call(9, 10, body).groups
    assert found(known) == [
        (topic_id, 0, 3, KafkaError.NONE),
        (topic_id, 1, -1, KafkaError.NONE),
        (NOBODYS_ID, 0, -1, KafkaError.UNKNOWN_TOPIC_ID),
        (NO_ID, 0, -1, KafkaError.UNKNOWN_TOPIC_ID),
    ]
    assert found(absent) == [(topic_id, 0, -1, KafkaError.NONE)]
    assert (stranger.error_code.value, stranger.topics) == (KafkaError.UNKNOWN_MEMBER_ID, ())
    assert (stale.error_code.value, stale.topics) == (KafkaError.STALE_MEMBER_EPOCH, ())
    assert found(member) == [(topic_id, 0, -1, KafkaError.NONE)]


def test_a_commit_by_topic_id_is_read_by_name_and_an_unknown_id_refused_alone(
    client: WireClient, group: str, topic: str, topic_id: bytes
) -> None:
    body = commit_request(group, "", topic_id, offset=8)
    body.topics += commit_request(group, "", NOBODYS_ID).topics + commit_request(group, "", NO_ID).topics
    codes = [part.error_code.value for each in client.call(8, 10, body).topics for part in each.partitions]
    assert codes == [KafkaError.NONE, KafkaError.UNKNOWN_TOPIC_ID, KafkaError.UNKNOWN_TOPIC_ID]
    named = fetch.request.OffsetFetchRequestTopic(name=topic, partition_indexes=[0])
    [[part]] = [each.partitions for each in client.call(9, 5, fetch.Request(group_id=group, topics=[named])).topics]
    assert part.committed_offset == 8


def test_an_operator_cannot_move_the_offsets_of_a_group_at_work(
    client: WireClient, group: str, topic: str, topic_id: bytes
) -> None:
    """kafka-consumer-groups --reset-offsets says then that the group must be inactive."""
    client.call(68, 1, consumer_heartbeat_request(group, [topic]))
    body = commit_request(group, topic, topic_id)
    [[part]] = [each.partitions for each in client.call(8, 9, body).topics]
    assert part.error_code.value == KafkaError.UNKNOWN_MEMBER_ID
    leaving = consumer_heartbeat_request(group, [topic], epoch=-1)
    assert client.call(68, 1, leaving).error_code.value == KafkaError.NONE
    committed(client, group, topic, topic_id)


@pytest.mark.parametrize(("wanted", "shown"), [(True, authorized(UNLIMITED, ResourceType.GROUP)), (False, NOT_ASKED)])
def test_what_one_may_do_with_a_group_is_told_to_those_who_ask(
    client: WireClient, group: str, wanted: bool, shown: int
) -> None:
    newer = group_of_first_broker()
    stable(client, group)
    client.call(68, 1, consumer_heartbeat_request(newer, ["orders"]))
    classic = messages.api(15).Request(groups=[group], include_authorized_operations=wanted)
    consumer = messages.api(69).Request(group_ids=[newer], include_authorized_operations=wanted)
    described = [*client.call(15, 6, classic).groups, *client.call(69, 1, consumer).groups]
    assert [(each.error_code.value, each.authorized_operations) for each in described] == [(0, shown)] * 2
