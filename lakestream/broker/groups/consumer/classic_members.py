"""Members that speak the classic protocol inside a consumer group, while an application moves from one to the other.

They get the coordinator's decisions in terms of the classic protocol: the generation is their member epoch, nobody is
leader, and a heartbeat answered with "rebalance in progress" sends them through join and sync again.
"""

from dataclasses import replace

from lakestream.broker.groups.asks import (
    CONSUMER_PROTOCOL,
    UNKNOWN_MEMBER_ID,
    HeartbeatAsk,
    JoinAsk,
    Joined,
    JoinRefused,
    LeaveAsk,
    Leaver,
    Left,
    SyncAsk,
    Synced,
)
from lakestream.broker.groups.consumer.group import ConsumerGroup
from lakestream.broker.groups.consumer.heartbeat import check_room, lead_on
from lakestream.broker.groups.consumer.leaving import remove
from lakestream.broker.groups.embedded import (
    MalformedProtocol,
    Subscription,
    embedded_version,
    read_subscription,
    write_assignment,
)
from lakestream.broker.groups.errors import InconsistentProtocol, MemberIdRequired, RebalanceInProgress, UnknownMember
from lakestream.broker.groups.saved.state import (
    JOINING_EPOCH,
    Assignment,
    ClassicSide,
    ConsumerMember,
    MemberState,
    ProtocolOffer,
    offered_bytes,
)
from lakestream.broker.groups.topics.topics import TopicsImage
from lakestream.broker.groups.turn import Ticket, Timer, TimerKind, Turn
from lakestream.model.errors import IllegalGeneration, InvalidRequest, LakestreamError
from lakestream.model.group import TopicPartition


def join(group: ConsumerGroup, ask: JoinAsk, ticket: Ticket, turn: Turn) -> None:
    try:
        answer = _join(group, ask, turn)
    except LakestreamError as error:
        member_id = ask.fresh_member_id if isinstance(error, MemberIdRequired) else UNKNOWN_MEMBER_ID
        turn.answer(ticket, JoinRefused(error=error, member_id=member_id))
    else:
        turn.answer(ticket, answer)


def sync(group: ConsumerGroup, ask: SyncAsk, turn: Turn) -> Synced:
    """Raises the errors that Kafka would answer."""
    member, side = _classic_member(group, ask.member_id, ask.instance_id, ask.generation)
    _check_protocol(ask, side)
    if group.epoch > member.epoch and member.state is not MemberState.UNREVOKED:
        group.deadlines.set_if_absent(Timer(TimerKind.JOIN, member.id), turn.now_ms + member.rebalance_timeout_ms)
        raise RebalanceInProgress(f"a new rebalance is triggered in group '{group.group}': join again")
    group.deadlines.cancel(Timer(TimerKind.SYNC, member.id))
    group.keep_alive(member, turn)
    version = embedded_version(side.offers[0].metadata)
    given = write_assignment(version, names_of(member.assigned, turn.topics))
    return Synced(protocol_type=ask.protocol_type, protocol=ask.protocol, assignment=given)


def heartbeat(group: ConsumerGroup, ask: HeartbeatAsk, turn: Turn) -> None:
    """Raises RebalanceInProgress if the member should join again to make progress, and Kafka's other errors."""
    member, _ = _classic_member(group, ask.member_id, ask.instance_id, ask.generation)
    group.keep_alive(member, turn)
    freed = member.state is MemberState.UNRELEASED and not group.waits_for_others(member)
    if member.epoch < group.epoch or member.state is MemberState.UNREVOKED or freed:
        group.deadlines.set_if_absent(Timer(TimerKind.JOIN, member.id), turn.now_ms + member.rebalance_timeout_ms)
        raise RebalanceInProgress(f"the assignment of group '{group.group}' has changed: join again")


def leave(group: ConsumerGroup, ask: LeaveAsk, turn: Turn) -> list[Left]:
    found = [_leaving(group, leaver) for leaver in ask.leavers]
    remove(group, [member for member in found if isinstance(member, str)], turn)
    return [Left(leaver, None if isinstance(one, str) else one) for leaver, one in zip(ask.leavers, found, strict=True)]


def partitions_of(by_name: dict[str, frozenset[int]], topics: TopicsImage) -> Assignment:
    """The partitions among these that exist."""
    return frozenset(
        TopicPartition(topic.id, index)
        for name, indexes in by_name.items()
        if (topic := topics.by_name.get(name)) is not None
        for index in indexes
        if 0 <= index < topic.partitions
    )


def names_of(assignment: Assignment, topics: TopicsImage) -> dict[str, list[int]]:
    by_name: dict[str, list[int]] = {}
    for partition in sorted(assignment):
        topic = topics.by_id.get(partition.topic)
        if topic is not None:
            by_name.setdefault(topic.name, []).append(partition.number)
    return by_name


def _join(group: ConsumerGroup, ask: JoinAsk, turn: Turn) -> Joined:
    member_id = ask.member_id or ask.fresh_member_id
    check_room(group, member_id, turn.limits)
    subscription = _checked_subscription(group, ask, turn)
    if ask.member_id == UNKNOWN_MEMBER_ID and ask.instance_id is None and ask.needs_known_member_id:
        raise MemberIdRequired("join again with the member id of this answer")
    member, returning_from = _admit(group, member_id, ask)
    updated = replace(
        member,
        instance_id=ask.instance_id or member.instance_id,
        rack=subscription.rack,
        rebalance_timeout_ms=ask.rebalance_timeout_ms,
        topics=subscription.topics,
        regex="",
        client_id=ask.client.id,
        client_host=ask.client.host,
        classic=ClassicSide(session_timeout_ms=ask.session_timeout_ms, offers=ask.offers),
    )
    group.check_room_for(updated, turn.limits)
    if returning_from is None:
        group.put(updated)
    else:
        group.replace(returning_from, updated)
    owned = partitions_of(dict(subscription.owned), turn.topics)
    resubscribed = (updated.topics, updated.regex) != (member.topics, member.regex)
    updated = lead_on(group, updated, owned, turn, resubscribed=resubscribed)
    group.deadlines.cancel(Timer(TimerKind.JOIN, updated.id))
    group.deadlines.set(Timer(TimerKind.SYNC, updated.id), turn.now_ms + ask.rebalance_timeout_ms)
    group.keep_alive(updated, turn)
    turn.persist = True
    return Joined(
        member_id=updated.id,
        generation=updated.epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol=ask.offers[0].name,
        leader="",
    )


def _checked_subscription(group: ConsumerGroup, ask: JoinAsk, turn: Turn) -> Subscription:
    """Read the first protocol: all protocols of a consumer carry the same subscription."""
    if offered_bytes(ask.offers) > turn.limits.member_bytes_max:
        raise InvalidRequest(
            f"the member's metadata has more than {turn.limits.member_bytes_max} bytes: subscribe to less"
        )
    if ask.protocol_type != CONSUMER_PROTOCOL or not ask.offers or not _shares_protocol(group, ask.offers):
        raise InconsistentProtocol(f"member {ask.member_id}'s protocols are not supported by group '{group.group}'")
    try:
        return read_subscription(ask.offers[0].metadata)
    except MalformedProtocol as error:
        raise InconsistentProtocol(f"the member's subscription is malformed: {error}") from error


def _shares_protocol(group: ConsumerGroup, offers: tuple[ProtocolOffer, ...]) -> bool:
    names = {offer.name for offer in offers}
    for member in group.members.values():
        if member.classic is not None:
            names &= {offer.name for offer in member.classic.offers}
    return bool(names)


def _admit(group: ConsumerGroup, member_id: str, ask: JoinAsk) -> tuple[ConsumerMember, str | None]:
    holder = group.instances.get(ask.instance_id) if ask.instance_id is not None else None
    if ask.instance_id is None or holder is None:
        if ask.instance_id is not None and ask.member_id != UNKNOWN_MEMBER_ID:
            raise UnknownMember(f"group '{group.group}' has no member with instance id '{ask.instance_id}': join again")
        return group.members.get(member_id) or ConsumerMember(id=member_id), None
    if ask.member_id != UNKNOWN_MEMBER_ID:
        return group.known_member(member_id, ask.instance_id), None
    return replace(group.members[holder], id=member_id, epoch=JOINING_EPOCH, previous_epoch=JOINING_EPOCH), holder


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
) -> tuple[ConsumerMember, ClassicSide]:
    member = group.known_member(member_id, instance_id)
    if member.classic is None:
        raise UnknownMember(f"member '{member_id}' does not use the classic protocol")
    if generation != member.epoch:
        raise IllegalGeneration(f"member '{member_id}' is in generation {member.epoch}, not {generation}: join again")
    return member, member.classic


def _check_protocol(ask: SyncAsk, side: ClassicSide) -> None:
    wrong_type = ask.protocol_type is not None and ask.protocol_type != CONSUMER_PROTOCOL
    wrong_name = ask.protocol is not None and ask.protocol != side.offers[0].name
    if wrong_type or wrong_name:
        raise InconsistentProtocol(f"the join was answered with {CONSUMER_PROTOCOL}/{side.offers[0].name}")


def _leaving(group: ConsumerGroup, leaver: Leaver) -> str | LakestreamError:
    try:
        if leaver.member_id == UNKNOWN_MEMBER_ID and leaver.instance_id in group.instances:
            return group.instances[leaver.instance_id or ""]
        return group.known_member(leaver.member_id, leaver.instance_id).id
    except LakestreamError as error:
        return error
