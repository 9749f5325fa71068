"""ConsumerGroupHeartbeat: one request to join, stay, change a subscription and move towards the target assignment.

check -> admit (new, known, or a static member that returns) -> epoch -> target -> one step of the member
"""

from dataclasses import replace

from lakestream.broker.groups.asks import ConsumerHeartbeatAnswer, ConsumerHeartbeatAsk
from lakestream.broker.groups.consumer.assignors import ASSIGNORS
from lakestream.broker.groups.consumer.group import ConsumerGroup
from lakestream.broker.groups.consumer.reconcile import reconcile
from lakestream.broker.groups.errors import (
    FencedMemberEpoch,
    GroupFull,
    InvalidRegularExpression,
    UnreleasedInstance,
    UnsupportedAssignor,
)
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.saved.state import (
    JOINING_EPOCH,
    LEAVING_EPOCH,
    STATIC_LEFT_EPOCH,
    Assignment,
    ConsumerMember,
)
from lakestream.broker.groups.turn import Turn
from lakestream.model.errors import InvalidRequest


def check_ask(ask: ConsumerHeartbeatAsk, limits: GroupLimits) -> None:
    """Checks that need no group state, in Kafka's order. Raises InvalidRequest, UnsupportedAssignor."""
    needs_id = ask.member_id_required or ask.member_epoch > 0 or ask.member_epoch == LEAVING_EPOCH
    if needs_id and not ask.member_id.strip():
        raise InvalidRequest("MemberId can't be empty.")
    for name, value in (("GroupId", ask.group), ("InstanceId", ask.instance_id), ("RackId", ask.rack)):
        if value is not None and not value.strip():
            raise InvalidRequest(f"{name} can't be empty.")
    if ask.member_epoch == JOINING_EPOCH:
        _check_joining(ask)
    elif ask.member_epoch == STATIC_LEFT_EPOCH and ask.instance_id is None:
        raise InvalidRequest("InstanceId can't be null.")
    elif ask.member_epoch < STATIC_LEFT_EPOCH:
        raise InvalidRequest("MemberEpoch is invalid.")
    if ask.assignor is not None and ask.assignor not in ASSIGNORS:
        raise UnsupportedAssignor(
            f"ServerAssignor {ask.assignor} is not supported. Supported assignors: {', '.join(ASSIGNORS)}."
        )
    if ask.topics is not None and len(ask.topics) > limits.subscribed_topics_max:
        raise InvalidRequest(
            f"{len(ask.topics)} topics, more than {limits.subscribed_topics_max}: use a regular expression"
        )
    if ask.regex is not None and len(ask.regex) > limits.regex_length_max:
        raise InvalidRegularExpression(f"the expression has more than {limits.regex_length_max} characters")


def heartbeat(group: ConsumerGroup, ask: ConsumerHeartbeatAsk, turn: Turn) -> ConsumerHeartbeatAnswer:
    member, returning_from = _admit(group, ask, turn)
    updated = _with_news(member, ask)
    if (updated.topics, updated.regex) != (member.topics, member.regex):
        group.check_room_for(updated, turn.limits)
    if updated.regex and updated.regex != member.regex:
        turn.topics.matching(updated.regex)  # raises before anything is changed
    epoch_before = group.epoch
    if returning_from is None:
        group.put(updated)
    else:
        group.replace(returning_from, updated)
    resubscribed = (updated.topics, updated.regex) != (member.topics, member.regex)
    updated = lead_on(group, updated, ask.owned, turn, resubscribed=resubscribed or group.epoch == 0)
    group.keep_alive(updated, turn)
    is_new = ask.member_epoch == JOINING_EPOCH
    turn.persist |= is_new or updated != member or group.epoch != epoch_before
    tell = is_new or _is_full(ask) or updated.assigned != member.assigned
    return ConsumerHeartbeatAnswer(
        member_id=updated.id,
        member_epoch=updated.epoch,
        heartbeat_interval_ms=turn.limits.consumer_heartbeat_interval_ms,
        assignment=updated.assigned if tell else None,
    )


def lead_on(
    group: ConsumerGroup, member: ConsumerMember, owned: Assignment | None, turn: Turn, *, resubscribed: bool
) -> ConsumerMember:
    """Bring the group's target up to date, and move the member one step towards it."""
    group.look_at_topics(turn.topics, resubscribed=resubscribed)
    group.retarget_if_due(turn)
    target = group.target_of(member.id)
    led = reconcile(member, target=target, target_epoch=group.target_epoch, owned=owned, holder_of=group.holder_of)
    if led != member:
        group.put(led)
        group.watch_revocation(led, turn)
    return led


def check_room(group: ConsumerGroup, member_id: str, limits: GroupLimits) -> None:
    if member_id not in group.members and len(group.members) >= limits.members_max:
        raise GroupFull(f"The consumer group has reached its maximum capacity of {limits.members_max} members.")


def _check_joining(ask: ConsumerHeartbeatAsk) -> None:
    if ask.rebalance_timeout_ms is None:
        raise InvalidRequest("RebalanceTimeoutMs must be provided in first request.")
    if ask.owned is None or ask.owned:
        raise InvalidRequest("TopicPartitions must be empty when (re-)joining.")
    if ask.topics is None and ask.regex is None:
        raise InvalidRequest("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")


def _admit(group: ConsumerGroup, ask: ConsumerHeartbeatAsk, turn: Turn) -> tuple[ConsumerMember, str | None]:
    """The member before this heartbeat. For a static member that returns under a new id, also its former id."""
    check_room(group, ask.member_id, turn.limits)
    if ask.member_epoch != JOINING_EPOCH:
        member = group.known_member(ask.member_id, ask.instance_id)
        _check_epoch(member, ask)
        return member, None
    holder = group.instances.get(ask.instance_id) if ask.instance_id is not None else None
    # The same id again is a repeat: its first answer was lost. Kafka makes it wait until its own session has ended.
    if holder is None or holder == ask.member_id:
        return group.members.get(ask.member_id) or ConsumerMember(id=ask.member_id), None
    former = group.members[holder]
    if former.epoch != STATIC_LEFT_EPOCH and former.classic is None:
        raise UnreleasedInstance(
            f"static member '{ask.member_id}' cannot join: instance id '{ask.instance_id}' is still held by '{holder}'"
        )
    return replace(former, id=ask.member_id, epoch=JOINING_EPOCH, previous_epoch=JOINING_EPOCH), holder


def _check_epoch(member: ConsumerMember, ask: ConsumerHeartbeatAsk) -> None:
    """Accept the previous epoch while the member holds nothing that it should not: our last answer was lost."""
    if ask.member_epoch == member.epoch:
        return
    is_repeat = ask.member_epoch == member.previous_epoch and ask.owned is not None and ask.owned <= member.assigned
    if ask.member_epoch > member.epoch or not is_repeat:
        size = "greater" if ask.member_epoch > member.epoch else "smaller"
        raise FencedMemberEpoch(
            f"The consumer group member has a {size} member epoch ({ask.member_epoch}) than the one known by the group "
            f"coordinator ({member.epoch}). The member must abandon all its partitions and rejoin."
        )


def _with_news(member: ConsumerMember, ask: ConsumerHeartbeatAsk) -> ConsumerMember:
    return replace(
        member,
        instance_id=member.instance_id if ask.instance_id is None else ask.instance_id,
        rack=member.rack if ask.rack is None else ask.rack,
        rebalance_timeout_ms=member.rebalance_timeout_ms
        if ask.rebalance_timeout_ms is None
        else ask.rebalance_timeout_ms,
        assignor=member.assignor if ask.assignor is None else ask.assignor,
        topics=member.topics if ask.topics is None else ask.topics,
        regex=member.regex if ask.regex is None else ask.regex,
        client_id=ask.client.id,
        client_host=ask.client.host,
        classic=None,
    )


def _is_full(ask: ConsumerHeartbeatAsk) -> bool:
    """Whether the member sends its whole state, as clients do after an error. The answer is complete then too."""
    subscribes = ask.topics is not None or ask.regex is not None
    return ask.rebalance_timeout_ms is not None and subscribes and ask.owned is not None
