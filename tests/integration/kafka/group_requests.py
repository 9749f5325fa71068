"""A well-formed request for every API of groups, in every version, and what must be there before it is sent."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from lakestream.broker.groups.ownership import coordinator_of
from lakestream.model.broker import LiveBroker
from lakestream.protocol.kafka.wire import messages
from lakestream.testing.local import FIRST_BROKER_ID

from .wire_client import WireClient

MEMBER_ID_REQUIRED = 79
SECURITY_DISABLED, ILLEGAL_SASL_STATE = 54, 34
EXPECTED: Mapping[tuple[int, int], int] = {
    (11, 4): MEMBER_ID_REQUIRED,
    **{(key, version): ILLEGAL_SASL_STATE for key in (17, 36) for version in (0, 1, 2)},
    **{(key, version): SECURITY_DISABLED for key in (29, 30, 31) for version in (1, 2, 3)},
}
"""JoinGroup 4 is the one version in which a member cannot join at once: no id yet, and no static members. ACLs are not
checked by the brokers of these tests."""

SUBSCRIPTION = b"\0\0\0\0\0\0\xff\xff\xff\xff"
"""Of no topics, in version 0 of the consumers' own format."""


def group_of_first_broker() -> str:
    """A fresh group that broker 1 of 2 coordinates: the one that tests talk to."""
    return group_of_broker(0)


def group_of_broker(index: int) -> str:
    brokers = [
        LiveBroker(id=FIRST_BROKER_ID + number, host="", port=0, rack=None, http="", incarnation=1) for number in (0, 1)
    ]
    names = (f"group-{uuid.uuid4().hex}" for _ in count())  # a damaged name is never that of another test
    return next(name for name in names if coordinator_of(brokers, name) is brokers[index])


def join_request(version: int, group: str, member_id: str = "", *, instance: str | None = "one") -> Any:
    api = messages.api(11)
    offer = api.request.JoinGroupRequestProtocol(name="range", metadata=SUBSCRIPTION)
    return api.Request(
        group_id=group,
        session_timeout=10_000,
        rebalance_timeout=10_000,
        member_id=member_id,
        group_instance_id=instance,
        protocol_type="consumer",
        protocols=[offer],
    )


def joined(client: WireClient, group: str) -> tuple[str, int]:
    """The only member of the group, which is its leader and has not synced yet."""
    answer = client.call(11, 2, join_request(2, group, instance=None))
    assert answer.error_code.value == 0, answer
    return answer.member_id, answer.generation_id


def sync_request(group: str, member_id: str, generation: int) -> Any:
    api = messages.api(14)
    assignment = api.request.SyncGroupRequestAssignment(member_id=member_id, assignment=b"mine")
    return api.Request(
        group_id=group,
        generation_id=generation,
        member_id=member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[assignment],
    )


def stable(client: WireClient, group: str) -> tuple[str, int]:
    member_id, generation = joined(client, group)
    answer = client.call(14, 3, sync_request(group, member_id, generation))
    assert answer.error_code.value == 0, answer
    return member_id, generation


def commit_request(group: str, topic: str, topic_id: bytes, offset: int = 3) -> Any:
    api = messages.api(8)
    part = api.request.OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_leader_epoch=0, committed_metadata="here"
    )
    asked = api.request.OffsetCommitRequestTopic(name=topic, topic_id=topic_id, partitions=[part])
    return api.Request(
        group_id=group, generation_id_or_member_epoch=-1, member_id="", retention_time=-1, topics=[asked]
    )


def consumer_heartbeat_request(group: str, topics: list[str], member_id: str = "member-1", epoch: int = 0) -> Any:
    return messages.api(68).Request(
        group_id=group,
        member_id=member_id,
        member_epoch=epoch,
        rebalance_timeout=10_000,
        subscribed_topic_names=topics,
        topic_partitions=[],
    )


def committed(client: WireClient, group: str, topic: str, topic_id: bytes) -> None:
    answer = client.call(8, 9, commit_request(group, topic, topic_id))
    assert answer.topics[0].partitions[0].error_code.value == 0, answer


def _commit(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    return commit_request(group, topic, topic_id)


def _fetch(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    committed(client, group, topic, topic_id)
    api = messages.api(9)
    if version < 8:
        asked = api.request.OffsetFetchRequestTopic(name=topic, partition_indexes=[0])
        return api.Request(group_id=group, topics=[asked])
    named = api.request.OffsetFetchRequestTopics(name=topic, topic_id=topic_id, partition_indexes=[0])
    return api.Request(groups=[api.request.OffsetFetchRequestGroup(group_id=group, topics=[named], member_epoch=-1)])


def _join(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    return join_request(version, group)


def _heartbeat(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    member_id, generation = stable(client, group)
    return messages.api(12).Request(group_id=group, generation_id=generation, member_id=member_id)


def _leave(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    member_id, _ = stable(client, group)
    api = messages.api(13)
    return api.Request(group_id=group, member_id=member_id, members=[api.request.MemberIdentity(member_id=member_id)])


def _sync(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    return sync_request(group, *joined(client, group))


def _describe(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    stable(client, group)
    return messages.api(15).Request(groups=[group], include_authorized_operations=True)


def _list(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    stable(client, group)
    return messages.api(16).Request(states_filter=[], types_filter=[])


def _delete(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    committed(client, group, topic, topic_id)
    return messages.api(42).Request(groups_names=[group])


def _delete_offsets(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    committed(client, group, topic, topic_id)
    api = messages.api(47)
    part = api.request.OffsetDeleteRequestPartition(partition_index=0)
    return api.Request(group_id=group, topics=[api.request.OffsetDeleteRequestTopic(name=topic, partitions=[part])])


def _consumer_heartbeat(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    return consumer_heartbeat_request(group, [topic])


def _consumer_describe(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    answer = client.call(68, 1, consumer_heartbeat_request(group, [topic]))
    assert answer.error_code.value == 0, answer
    return messages.api(69).Request(group_ids=[group], include_authorized_operations=True)


def share_heartbeat_request(group: str, topics: list[str] | None, member_id: str = "member-1", epoch: int = 0) -> Any:
    return messages.api(76).Request(
        group_id=group, member_id=member_id, member_epoch=epoch, subscribed_topic_names=topics
    )


def share_group(client: WireClient, group: str, topic: str, *, empty: bool = False) -> None:
    answer = client.call(76, 1, share_heartbeat_request(group, [topic]))
    assert answer.error_code.value == 0, answer
    if empty:
        client.call(76, 1, share_heartbeat_request(group, None, epoch=-1))


def share_fetch_request(
    group: str,
    topic_id: bytes,
    *,
    epoch: int = 0,
    member_id: str = "member-1",
    wait_ms: int = 0,
    records: int = 100,
    exact: bool = False,
    acknowledged: Sequence[tuple[int, int, Sequence[int]]] = (),
    partitions: Sequence[int] = (0,),
) -> Any:
    """`acknowledged`: first and last offset and types, of the first partition."""
    api = messages.api(78)
    batches = [
        api.request.AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=list(types))
        for first, last, types in acknowledged
    ]
    parts = [
        api.request.FetchPartition(partition_index=number, acknowledgement_batches=batches if not at else [])
        for at, number in enumerate(partitions)
    ]
    topics = [api.request.FetchTopic(topic_id=topic_id, partitions=parts)] if parts else []
    return api.Request(
        group_id=group,
        member_id=member_id,
        share_session_epoch=epoch,
        max_wait=wait_ms,
        min_bytes=1,
        max_bytes=1 << 20,
        max_records=records,
        batch_size=records,
        share_acquire_mode=int(exact),
        topics=topics,
    )


def share_acknowledge_request(
    group: str, topic_id: bytes, epoch: int, *batches: tuple[int, int, Sequence[int]], member_id: str = "member-1"
) -> Any:
    api = messages.api(79)
    told = [
        api.request.AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=list(types))
        for first, last, types in batches
    ]
    part = api.request.AcknowledgePartition(partition_index=0, acknowledgement_batches=told)
    topics = [api.request.AcknowledgeTopic(topic_id=topic_id, partitions=[part])]
    return api.Request(group_id=group, member_id=member_id, share_session_epoch=epoch, topics=topics)


def _share_heartbeat(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    return share_heartbeat_request(group, [topic])


def _share_describe(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    share_group(client, group, topic)
    return messages.api(77).Request(group_ids=[group], include_authorized_operations=True)


def _share_fetch(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    share_group(client, group, topic)
    return share_fetch_request(group, topic_id)


def _share_acknowledge(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    share_group(client, group, topic)
    client.call(78, 1, share_fetch_request(group, topic_id))
    return share_acknowledge_request(group, topic_id, 1)


def _share_offsets(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    share_group(client, group, topic)
    api = messages.api(90)
    asked = api.request.DescribeShareGroupOffsetsRequestTopic(topic_name=topic, partitions=[0])
    return api.Request(groups=[api.request.DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=[asked])])


def _alter_share_offsets(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    share_group(client, group, topic, empty=True)
    api = messages.api(91)
    part = api.request.AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=0)
    asked = api.request.AlterShareGroupOffsetsRequestTopic(topic_name=topic, partitions=[part])
    return api.Request(group_id=group, topics=[asked])


def _delete_share_offsets(client: WireClient, group: str, topic: str, topic_id: bytes, version: int) -> Any:
    share_group(client, group, topic, empty=True)
    api = messages.api(92)
    return api.Request(group_id=group, topics=[api.request.DeleteShareGroupOffsetsRequestTopic(topic_name=topic)])


GROUP_REQUESTS: Mapping[int, Callable[[WireClient, str, str, bytes, int], Any]] = {
    8: _commit,
    9: _fetch,
    11: _join,
    12: _heartbeat,
    13: _leave,
    14: _sync,
    15: _describe,
    16: _list,
    42: _delete,
    47: _delete_offsets,
    68: _consumer_heartbeat,
    69: _consumer_describe,
    76: _share_heartbeat,
    77: _share_describe,
    78: _share_fetch,
    79: _share_acknowledge,
    90: _share_offsets,
    91: _alter_share_offsets,
    92: _delete_share_offsets,
}


def group_request(client: WireClient, key: int, version: int, topic: str, topic_id: bytes) -> Any:
    return GROUP_REQUESTS[key](client, group_of_first_broker(), topic, topic_id, version)
