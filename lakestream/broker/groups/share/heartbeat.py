"""ShareGroupHeartbeat: one request to join, stay, change a subscription and leave."""

from collections.abc import Iterable
from dataclasses import replace

from lakestream.broker.groups.asks import ShareHeartbeatAnswer, ShareHeartbeatAsk
from lakestream.broker.groups.errors import FencedMemberEpoch, GroupFull, GroupTooLarge
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.saved.state import JOINING_EPOCH, LEAVING_EPOCH, ShareMember
from lakestream.broker.groups.share.group import ShareGroup
from lakestream.broker.groups.turn import Turn
from lakestream.model.errors import InvalidRequest


def check_share_ask(ask: ShareHeartbeatAsk, limits: GroupLimits) -> None:
    """Checks that need no group state. Raises InvalidRequest."""
    if not ask.member_id.strip():
        raise InvalidRequest("MemberId can't be empty.")
    for name, value in (("GroupId", ask.group), ("RackId", ask.rack)):
        if value is not None and not value.strip():
            raise InvalidRequest(f"{name} can't be empty.")
    if ask.member_epoch < LEAVING_EPOCH:
        raise InvalidRequest("MemberEpoch is invalid.")
    if ask.member_epoch == JOINING_EPOCH and not ask.topics:
        raise InvalidRequest("SubscribedTopicNames must be set in first request.")
    if ask.topics is not None and len(ask.topics) > limits.subscribed_topics_max:
        raise InvalidRequest(f"{len(ask.topics)} topics, more than {limits.subscribed_topics_max}: subscribe to less")


def share_heartbeat(group: ShareGroup, ask: ShareHeartbeatAsk, turn: Turn) -> ShareHeartbeatAnswer:
    """Raises the error for the member; the group is unchanged then. `ask` has passed `check_share_ask`."""
    if ask.member_epoch == LEAVING_EPOCH:
        remove_shared(group, [group.known_member(ask.member_id).id], turn)
        return ShareHeartbeatAnswer(
            member_id=ask.member_id, member_epoch=LEAVING_EPOCH, heartbeat_interval_ms=0, assignment=None
        )
    member = _admitted(group, ask, turn.limits)
    updated = _with_news(member, ask)
    _check_room(group, updated, turn.limits)
    is_new = ask.member_id not in group.members
    group.put(updated)
    group.look_at_topics(turn.topics, changed=is_new or updated.topics != member.topics)
    group.keep_alive(updated.id, turn)
    led = updated.at_epoch(group.epoch)
    group.put(led)
    turn.persist |= is_new or led != member
    tell = ask.member_epoch != led.epoch or ask.topics is not None
    return ShareHeartbeatAnswer(
        member_id=led.id,
        member_epoch=led.epoch,
        heartbeat_interval_ms=turn.limits.share_heartbeat_interval_ms,
        assignment=group.assigned(led.id) if tell else None,
    )


def remove_shared(group: ShareGroup, member_ids: Iterable[str], turn: Turn) -> None:
    """Remove these members. The epoch rises once, however many they are."""
    going = [member_id for member_id in member_ids if member_id in group.members]
    if not going:
        return
    for member_id in going:
        group.remove(member_id)
    group.look_at_topics(turn.topics, changed=True)
    turn.persist = True


def tick_shared(group: ShareGroup, turn: Turn) -> None:
    """Remove every member that was silent for too long."""
    remove_shared(group, [timer.member_id for timer in group.deadlines.take_due(turn.now_ms)], turn)


def _admitted(group: ShareGroup, ask: ShareHeartbeatAsk, limits: GroupLimits) -> ShareMember:
    """The member before this heartbeat. Members choose their own ids, so one that joins again is the same one."""
    if ask.member_epoch == JOINING_EPOCH:
        if ask.member_id not in group.members and len(group.members) >= limits.share_members_max:
            raise GroupFull(f"The share group has reached its maximum capacity of {limits.share_members_max} members.")
        return group.members.get(ask.member_id) or ShareMember(id=ask.member_id)
    member = group.known_member(ask.member_id)
    if ask.member_epoch not in (member.epoch, member.previous_epoch):
        raise FencedMemberEpoch(
            f"the member is in epoch {member.epoch}, not {ask.member_epoch}: let go of all partitions and join again"
        )
    return member


def _check_room(group: ShareGroup, member: ShareMember, limits: GroupLimits) -> None:
    before = group.members.get(member.id)
    others = group.subscribed_bytes - (0 if before is None else before.subscribed_bytes)
    if others + member.subscribed_bytes > limits.group_bytes_max:
        raise GroupTooLarge(f"group '{group.group}' keeps {others} bytes of subscriptions already: subscribe to less")


def _with_news(member: ShareMember, ask: ShareHeartbeatAsk) -> ShareMember:
    return replace(
        member,
        rack=member.rack if ask.rack is None else ask.rack,
        topics=member.topics if ask.topics is None else ask.topics,
        client_id=ask.client.id,
        client_host=ask.client.host,
    )
