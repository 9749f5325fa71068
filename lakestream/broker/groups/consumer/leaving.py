"""Removal of members: they leave, fall silent, or do not release partitions in time."""

from collections.abc import Iterable
from dataclasses import replace

from lakestream.broker.groups.asks import ConsumerHeartbeatAnswer, ConsumerHeartbeatAsk
from lakestream.broker.groups.consumer.group import ConsumerGroup
from lakestream.broker.groups.saved.state import NO_PARTITIONS, STATIC_LEFT_EPOCH
from lakestream.broker.groups.turn import Timer, TimerKind, Turn


def leave(group: ConsumerGroup, ask: ConsumerHeartbeatAsk, turn: Turn) -> ConsumerHeartbeatAnswer:
    """Epoch -1 leaves for good; epoch -2 is a static member that will return. Raises UnknownMember, FencedInstance."""
    member = group.known_member(ask.member_id, ask.instance_id)
    if ask.member_epoch == STATIC_LEFT_EPOCH:
        group.put(replace(member, epoch=STATIC_LEFT_EPOCH, revoking=NO_PARTITIONS))
        group.deadlines.cancel(Timer(TimerKind.REVOKE, member.id))
        turn.persist = True
    else:
        remove(group, [member.id], turn)
    return ConsumerHeartbeatAnswer(
        member_id=ask.member_id, member_epoch=ask.member_epoch, heartbeat_interval_ms=0, assignment=None
    )


def remove(group: ConsumerGroup, member_ids: Iterable[str], turn: Turn) -> None:
    """Remove these members. The epoch rises once, however many they are."""
    going = [member_id for member_id in dict.fromkeys(member_ids) if member_id in group.members]
    if not going:
        return
    for member_id in going:
        group.remove(member_id)
    group.see(turn.topics)
    group.epoch += 1
    turn.persist = True


def tick(group: ConsumerGroup, turn: Turn) -> None:
    """Remove every member with a due timer. All timers of a consumer group mean that the member's time is up."""
    remove(group, (timer.member_id for timer in group.deadlines.take_due(turn.now_ms)), turn)
