"""Consumer groups through the Kafka client: asks each group's coordinator, and every broker for the list."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from lakestream.broker.groups.embedded import MalformedProtocol, read_assignment
from lakestream.cli.client.kafka_client import (
    DELETE_GROUPS,
    DESCRIBE_CONSUMER_GROUPS,
    DESCRIBE_GROUPS,
    FIND_COORDINATOR,
    LIST_GROUPS,
    METADATA,
    OFFSET_COMMIT,
    OFFSET_FETCH,
    KafkaClient,
    check,
)
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.settings.address import Address

_NO_MEMBER = -1
Partition = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    group: str
    type: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMember:
    member_id: str
    client: str
    partitions: frozenset[Partition]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFacts:
    type: str
    state: str
    members: tuple[GroupMember, ...]


def list_groups(kafka: KafkaClient) -> list[GroupLine]:
    """Sorted by name, over all brokers."""
    found: list[GroupLine] = []
    for broker in kafka.call(METADATA, topics=[], allow_auto_topic_creation=False).brokers:
        with kafka.beside(Address(broker.host, broker.port)) as one:
            answer = one.call(LIST_GROUPS, states_filter=[], types_filter=[])
        check(answer.error_code, None, f"list the groups of broker {broker.node_id}")
        found += [GroupLine(group=g.group_id, type=g.group_type, state=g.group_state) for g in answer.groups]
    return sorted(found, key=lambda line: line.group)


@contextmanager
def coordinator(kafka: KafkaClient, group: str) -> Iterator[KafkaClient]:
    """A connection to the group's coordinator."""
    [found] = kafka.call(FIND_COORDINATOR, key_type=0, coordinator_keys=[group]).coordinators
    check(found.error_code, found.error_message, f"find the coordinator of group '{group}'")
    with kafka.beside(Address(found.host, found.port)) as client:
        yield client


def describe_group(kafka: KafkaClient, group: str) -> GroupFacts:
    """Uses the newer protocol's description, or else the classic one. Fails if there is no such group."""
    [newer] = kafka.call(DESCRIBE_CONSUMER_GROUPS, group_ids=[group]).groups
    if newer.error_code != KafkaError.GROUP_ID_NOT_FOUND:
        check(newer.error_code, newer.error_message, f"describe group '{group}'")
        return GroupFacts(
            type="consumer",
            state=newer.group_state,
            members=tuple(
                GroupMember(
                    member_id=member.member_id,
                    client=f"{member.client_id}{member.client_host}",
                    partitions=frozenset(
                        (topic.topic_name, number)
                        for topic in member.assignment.topic_partitions
                        for number in topic.partitions
                    ),
                )
                for member in newer.members
            ),
        )
    [classic] = kafka.call(DESCRIBE_GROUPS, groups=[group]).groups
    check(classic.error_code, classic.error_message, f"describe group '{group}'")
    return GroupFacts(
        type="classic",
        state=classic.group_state,
        members=tuple(
            GroupMember(
                member_id=member.member_id,
                client=f"{member.client_id}{member.client_host}",
                partitions=_assigned(bytes(member.member_assignment)),
            )
            for member in classic.members
        ),
    )


def committed_offsets(kafka: KafkaClient, group: str) -> dict[Partition, int]:
    structs = kafka.structs(OFFSET_FETCH)
    asked = structs.OffsetFetchRequestGroup(group_id=group, topics=None, member_epoch=_NO_MEMBER)
    [answer] = kafka.call(OFFSET_FETCH, groups=[asked]).groups
    check(answer.error_code, None, f"read the offsets of group '{group}'")
    return {
        (topic.name, part.partition_index): part.committed_offset
        for topic in answer.topics
        for part in topic.partitions
    }


def commit_offsets(kafka: KafkaClient, group: str, topic: str, offsets: Mapping[int, int]) -> None:
    """Commit without a member id: the group must have no members."""
    structs = kafka.structs(OFFSET_COMMIT)
    parts = [
        structs.OffsetCommitRequestPartition(
            partition_index=number, committed_offset=offset, committed_leader_epoch=-1, committed_metadata=""
        )
        for number, offset in offsets.items()
    ]
    answer = kafka.call(
        OFFSET_COMMIT,
        group_id=group,
        generation_id_or_member_epoch=_NO_MEMBER,
        member_id="",
        topics=[structs.OffsetCommitRequestTopic(name=topic, partitions=parts)],
    )
    for part in answer.topics[0].partitions:
        message = "the group has members: stop them first" if _has_members(part.error_code) else None
        check(part.error_code, message, f"reset group '{group}' on '{topic}' partition {part.partition_index}")


def delete_group(kafka: KafkaClient, group: str) -> None:
    [result] = kafka.call(DELETE_GROUPS, groups_names=[group]).results
    message = "the group has members: stop them first" if result.error_code == KafkaError.NON_EMPTY_GROUP else None
    check(result.error_code, message, f"delete group '{group}'")


def _has_members(code: int) -> bool:
    return code in (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.STALE_MEMBER_EPOCH, KafkaError.ILLEGAL_GENERATION)


def _assigned(data: bytes) -> frozenset[Partition]:
    """A consumer's assigned partitions; empty for members of other kinds, whose assignments only they can read."""
    try:
        partitions = read_assignment(data).partitions
    except MalformedProtocol:
        return frozenset()
    return frozenset((topic, number) for topic, numbers in partitions.items() for number in numbers)
