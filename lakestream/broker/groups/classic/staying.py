"""Heartbeats, LeaveGroup and session timeouts of a classic group: how members stay and how they go."""

from lakestream.broker.groups.asks import UNKNOWN_MEMBER_ID, HeartbeatAsk, LeaveAsk, Leaver, Left
from lakestream.broker.groups.classic.group import ClassicGroup, ClassicPhase
from lakestream.broker.groups.classic.rebalance import (
    complete_if_all_joined,
    complete_join,
    join_time_is_up,
    prepare_or_go_on,
    sync_time_is_up,
)
from lakestream.broker.groups.errors import RebalanceInProgress, UnknownMember
from lakestream.broker.groups.turn import TimerKind, Turn
from lakestream.model.errors import IllegalGeneration, LakestreamError


def heartbeat(group: ClassicGroup, ask: HeartbeatAsk, turn: Turn) -> None:
    """Raises UnknownMember, FencedInstance, IllegalGeneration, RebalanceInProgress."""
    member = group.known_member(ask.member_id, ask.instance_id)
    if ask.generation != group.generation:
        raise IllegalGeneration(
            f"group '{group.group}' is in generation {group.generation}, not {ask.generation}: join again"
        )
    group.keep_alive(member, turn.now_ms)
    if group.phase is ClassicPhase.PREPARING:
        raise RebalanceInProgress(f"group '{group.group}' is rebalancing: join again")


def leave(group: ClassicGroup, ask: LeaveAsk, turn: Turn) -> list[Left]:
    """Remove all leavers, then begin one rebalance."""
    left = [_leave_one(group, leaver, turn) for leaver in ask.leavers]
    if any(one.error is None for one in left):
        _go_on_without(group, turn)
    return left


def tick(group: ClassicGroup, turn: Turn) -> None:
    """Handle every deadline that has come by `turn.now_ms`."""
    for timer in group.deadlines.take_due(turn.now_ms):
        match timer.kind:
            case TimerKind.JOIN:
                join_time_is_up(group, turn)
            case TimerKind.SYNC:
                sync_time_is_up(group, turn)
            case _:
                _session_is_over(group, timer.member_id, turn)


def _leave_one(group: ClassicGroup, leaver: Leaver, turn: Turn) -> Left:
    try:
        if leaver.member_id in group.pending:
            group.forget_pending(leaver.member_id)
        else:
            group.remove(_leaving_id(group, leaver), turn)
    except LakestreamError as error:
        return Left(leaver, error)
    return Left(leaver, None)


def _leaving_id(group: ClassicGroup, leaver: Leaver) -> str:
    if leaver.member_id != UNKNOWN_MEMBER_ID:
        return group.known_member(leaver.member_id, leaver.instance_id).id
    member_id = group.instances.get(leaver.instance_id or "")
    if member_id is None:
        raise UnknownMember(f"group '{group.group}' has no member with instance id '{leaver.instance_id}'")
    return member_id


def _session_is_over(group: ClassicGroup, member_id: str, turn: Turn) -> None:
    if member_id in group.pending:
        group.pending.discard(member_id)
        _complete_if_waiting(group, turn)
        return
    member = group.members.get(member_id)
    if member is None or (member.waits and not member.is_new):
        return  # a member with a waiting request is alive; the answer starts a new session
    group.remove(member_id, turn)
    if group.phase is ClassicPhase.PREPARING:
        _complete_if_waiting(group, turn)
    else:
        prepare_or_go_on(group, turn)


def _complete_if_waiting(group: ClassicGroup, turn: Turn) -> None:
    """Unlike a leave, a session timeout also ends an initial delay that nobody else waits for."""
    if group.phase is ClassicPhase.PREPARING and group.all_joined:
        complete_join(group, turn)


def _go_on_without(group: ClassicGroup, turn: Turn) -> None:
    match group.phase:
        case ClassicPhase.STABLE | ClassicPhase.COMPLETING:
            prepare_or_go_on(group, turn)
        case ClassicPhase.PREPARING:
            complete_if_all_joined(group, turn)
        case ClassicPhase.EMPTY:
            pass
