"""A group's saved state as bytes: version (1 byte) = 1, then msgpack.

    classic   [1, generation, protocol_type, protocol, leader, occupied,
               [[id, instance, client_id, host, session_ms, rebalance_ms, [[name, metadata] ...], assignment] ...]]
    consumer  [2, epoch, target_epoch, {member id: assignment}, {topic name: [topic id, partitions]},
               [[id, instance, rack, client_id, host, [topic ...], regex, assignor, rebalance_ms, epoch,
                 previous_epoch, state, assigned, revoking, null | [session_ms, [[name, metadata] ...]]] ...]]
    share     [3, epoch, {topic name: [topic id, partitions]},
               [[id, rack, client_id, host, [topic ...], epoch, previous_epoch] ...]]
    assignment in a consumer group  [[topic id, [index ...]] ...]

Sets are sorted, so that equal states have equal bytes. A golden file keeps each version for ever.

A coordinator keeps a StateWriter per group. When one member of a group of thousands has changed, the writer encodes
only that member, and reuses the remembered bytes of the others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgpack

from lakestream.broker.groups.saved.state import (
    Assignment,
    ClassicSide,
    ClassicState,
    ConsumerMember,
    ConsumerState,
    GroupState,
    MemberState,
    ProtocolOffer,
    SavedClassicMember,
    SeenTopic,
    ShareGroupState,
    ShareMember,
)
from lakestream.model.errors import Corrupt
from lakestream.model.group import GroupKind, TopicPartition

VERSION = 1
CONSUMER_FIELDS = 5
SHARE_FIELDS = 3


T = TypeVar("T")


class StateWriter:
    def __init__(self) -> None:
        self._members: dict[str, tuple[object, bytes]] = {}
        self._targets: dict[str, tuple[object, bytes]] = {}

    def encode(self, state: GroupState) -> bytes:
        if isinstance(state, ClassicState):
            members = _remembered(self._members, {one.id: one for one in state.members}, _classic_member)
            parts = [*map(_packed, _classic_header(state)), _array(len(members)), *members]
            return _whole(GroupKind.CLASSIC, len(_classic_header(state)) + 1, parts)
        if isinstance(state, ShareGroupState):
            members = _remembered(self._members, {one.id: one for one in state.members}, _share_member)
            parts = [_packed(state.epoch), _packed(dict(sorted(state.seen.items()))), _array(len(members)), *members]
            return _whole(GroupKind.SHARE, SHARE_FIELDS, parts)
        targets = dict(sorted(state.target.items()))
        written = _remembered(self._targets, targets, _partitions)
        members = _remembered(self._members, {one.id: one for one in state.members}, _consumer_member)
        parts = [_packed(state.epoch), _packed(state.target_epoch), _map(len(targets))]
        parts += [part for name, target in zip(targets, written, strict=True) for part in (_packed(name), target)]
        parts += [_packed(dict(sorted(state.seen.items()))), _array(len(members)), *members]
        return _whole(GroupKind.CONSUMER, CONSUMER_FIELDS, parts)


def decode_state(data: bytes) -> GroupState:
    try:
        if data[0] != VERSION:
            raise ValueError(f"version {data[0]}")
        kind, *fields = msgpack.unpackb(memoryview(data)[1:], strict_map_key=False)
        return _READERS[GroupKind(kind)](fields)
    except (ValueError, TypeError, IndexError, msgpack.UnpackException) as error:
        raise Corrupt(
            f"the saved state of a group is not readable ({error}): run the version of Lakestream that wrote it, or "
            "restore the metadata store from a backup"
        ) from error


def _remembered(
    known: dict[str, tuple[object, bytes]], values: Mapping[str, T], fields: Callable[[T], Any]
) -> Sequence[bytes]:
    """The bytes of each value. Values never change, so the same object as in the last call is not encoded again."""
    before = dict(known)
    known.clear()
    for name, value in values.items():
        written = before.get(name)
        known[name] = written if written is not None and written[0] is value else (value, _packed(fields(value)))
    return [written for _, written in known.values()]


def _whole(kind: GroupKind, fields: int, parts: Iterable[bytes]) -> bytes:
    return b"".join([bytes([VERSION]), _array(fields + 1), _packed(int(kind)), *parts])


def _packed(value: Any) -> bytes:
    return bytes(msgpack.packb(value))


def _array(length: int) -> bytes:
    return bytes(msgpack.Packer().pack_array_header(length))


def _map(length: int) -> bytes:
    return bytes(msgpack.Packer().pack_map_header(length))


# --- classic -----------------------------------------------------------------------------------


def _classic_header(state: ClassicState) -> list[Any]:
    return [state.generation, state.protocol_type, state.protocol, state.leader, state.occupied]


def _classic_member(member: SavedClassicMember) -> list[Any]:
    return [
        member.id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.session_timeout_ms,
        member.rebalance_timeout_ms,
        member.offers,
        member.assignment,
    ]


def _read_classic(fields: list[Any]) -> ClassicState:
    generation, protocol_type, protocol, leader, occupied, members = fields
    return ClassicState(
        generation=generation,
        protocol_type=protocol_type,
        protocol=protocol,
        leader=leader,
        occupied=occupied,
        members=tuple(_read_classic_member(*member) for member in members),
    )


def _read_classic_member(
    id: str,
    instance: str | None,
    client_id: str,
    host: str,
    session_ms: int,
    rebalance_ms: int,
    offers: Any,
    given: bytes,
) -> SavedClassicMember:
    return SavedClassicMember(
        id=id,
        instance_id=instance,
        client_id=client_id,
        client_host=host,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=rebalance_ms,
        offers=_read_offers(offers),
        assignment=given,
    )


def _read_offers(offers: Iterable[Any]) -> tuple[ProtocolOffer, ...]:
    return tuple(ProtocolOffer(name, metadata) for name, metadata in offers)


# --- consumer ----------------------------------------------------------------------------------


def _consumer_member(member: ConsumerMember) -> list[Any]:
    classic = member.classic
    return [
        member.id,
        member.instance_id,
        member.rack,
        member.client_id,
        member.client_host,
        sorted(member.topics),
        member.regex,
        member.assignor,
        member.rebalance_timeout_ms,
        member.epoch,
        member.previous_epoch,
        int(member.state),
        _partitions(member.assigned),
        _partitions(member.revoking),
        None if classic is None else [classic.session_timeout_ms, classic.offers],
    ]


def _partitions(assignment: Assignment) -> list[Any]:
    by_topic: dict[bytes, list[int]] = {}
    for topic, index in sorted(assignment):
        by_topic.setdefault(topic, []).append(index)
    return [[topic, indexes] for topic, indexes in by_topic.items()]


def _read_consumer(fields: list[Any]) -> ConsumerState:
    epoch, target_epoch, target, seen, members = fields
    return ConsumerState(
        epoch=epoch,
        target_epoch=target_epoch,
        target={member: _read_partitions(partitions) for member, partitions in target.items()},
        seen={name: SeenTopic(id, partitions) for name, (id, partitions) in seen.items()},
        members=tuple(_read_consumer_member(member) for member in members),
    )


def _read_consumer_member(fields: list[Any]) -> ConsumerMember:
    (id, instance, rack, client_id, host, topics, regex, assignor, rebalance_ms, *progress) = fields
    (epoch, previous_epoch, state, assigned, revoking, classic) = progress
    return ConsumerMember(
        id=id,
        instance_id=instance,
        rack=rack,
        client_id=client_id,
        client_host=host,
        topics=frozenset(topics),
        regex=regex,
        assignor=assignor,
        rebalance_timeout_ms=rebalance_ms,
        epoch=epoch,
        previous_epoch=previous_epoch,
        state=MemberState(state),
        assigned=_read_partitions(assigned),
        revoking=_read_partitions(revoking),
        classic=None
        if classic is None
        else ClassicSide(session_timeout_ms=classic[0], offers=_read_offers(classic[1])),
    )


def _read_partitions(by_topic: Iterable[Any]) -> Assignment:
    return frozenset(TopicPartition(topic, index) for topic, indexes in by_topic for index in indexes)


# --- share -------------------------------------------------------------------------------------


def _share_member(member: ShareMember) -> list[Any]:
    return [
        member.id,
        member.rack,
        member.client_id,
        member.client_host,
        sorted(member.topics),
        member.epoch,
        member.previous_epoch,
    ]


def _read_share(fields: list[Any]) -> ShareGroupState:
    epoch, seen, members = fields
    return ShareGroupState(
        epoch=epoch,
        seen={name: SeenTopic(id, partitions) for name, (id, partitions) in seen.items()},
        members=tuple(_read_share_member(*member) for member in members),
    )


def _read_share_member(
    id: str, rack: str | None, client_id: str, host: str, topics: list[str], epoch: int, previous_epoch: int
) -> ShareMember:
    return ShareMember(
        id=id,
        rack=rack,
        client_id=client_id,
        client_host=host,
        topics=frozenset(topics),
        epoch=epoch,
        previous_epoch=previous_epoch,
    )


_READERS: Mapping[GroupKind, Callable[[list[Any]], GroupState]] = {
    GroupKind.CLASSIC: _read_classic,
    GroupKind.CONSUMER: _read_consumer,
    GroupKind.SHARE: _read_share,
}
