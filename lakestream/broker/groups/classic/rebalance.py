"""A rebalance: wait until every member has joined (or the time is up), then begin the next generation.

    prepare -> all joined, or JOIN timer -> complete_join -> members get their generation, the leader all subscriptions

The first rebalance of an empty group waits a little longer, so that members started together end up in one generation.
"""

from lakestream.broker.groups.asks import Joined
from lakestream.broker.groups.classic.group import ClassicGroup, ClassicPhase, InitialDelay
from lakestream.broker.groups.classic.member import ClassicMember
from lakestream.broker.groups.errors import RebalanceInProgress
from lakestream.broker.groups.turn import Timer, TimerKind, Turn

JOIN = Timer(TimerKind.JOIN)
SYNC = Timer(TimerKind.SYNC)


def prepare_or_go_on(group: ClassicGroup, turn: Turn) -> None:
    """A change needs a rebalance: begin one, or complete the one under way if everyone has joined."""
    if group.phase is ClassicPhase.PREPARING:
        complete_if_all_joined(group, turn)
    else:
        prepare(group, turn)


def prepare(group: ClassicGroup, turn: Turn) -> None:
    if group.phase is ClassicPhase.COMPLETING:
        _send_back_to_join(group, turn)
    group.unsynced.clear()
    group.deadlines.cancel(SYNC)
    if group.phase is ClassicPhase.EMPTY:
        _begin_initial_delay(group, turn)
        return
    group.phase = ClassicPhase.PREPARING
    if group.all_joined:
        complete_join(group, turn)
    else:
        group.deadlines.set(JOIN, turn.now_ms + group.rebalance_timeout_ms())


def complete_if_all_joined(group: ClassicGroup, turn: Turn) -> None:
    """Does nothing during the initial delay."""
    if group.phase is ClassicPhase.PREPARING and group.initial is None and group.all_joined:
        complete_join(group, turn)


def join_time_is_up(group: ClassicGroup, turn: Turn) -> None:
    initial = group.initial
    if initial is None or not group.joined_since_delay or initial.remaining_ms == 0:
        complete_join(group, turn)
        return
    delay_ms = min(turn.limits.initial_rebalance_delay_ms, initial.remaining_ms)
    group.initial = InitialDelay(delay_ms, max(initial.remaining_ms - initial.delay_ms, 0))
    group.joined_since_delay = False
    group.deadlines.set(JOIN, turn.now_ms + delay_ms)


def complete_join(group: ClassicGroup, turn: Turn) -> None:
    group.deadlines.cancel(JOIN)
    for member in [member for member in group.members.values() if member.join_ticket is None and not member.is_static]:
        group.remove(member.id, turn)
    if group.members and not _elect_leader(group):
        # Only static members are left and none of them joined. Wait for one, or for their sessions to end.
        group.deadlines.set(JOIN, turn.now_ms + group.rebalance_timeout_ms())
        return
    group.initial = None
    group.generation += 1
    if group.members:
        _begin_generation(group, turn)
    else:
        _become_empty(group, turn)


def sync_time_is_up(group: ClassicGroup, turn: Turn) -> None:
    if group.phase not in (ClassicPhase.COMPLETING, ClassicPhase.STABLE) or not group.unsynced:
        return
    for member_id in sorted(group.unsynced):
        group.remove(member_id, turn)
    prepare(group, turn)


def joined(group: ClassicGroup, member: ClassicMember) -> Joined:
    """The answer to a join in the current generation."""
    return Joined(
        member_id=member.id,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=group.leader or "",
        members=group.joined_members() if group.leader == member.id else (),
    )


def _begin_initial_delay(group: ClassicGroup, turn: Turn) -> None:
    delay_ms = turn.limits.initial_rebalance_delay_ms
    group.initial = InitialDelay(delay_ms, max(group.rebalance_timeout_ms() - delay_ms, 0))
    group.joined_since_delay = False
    group.phase = ClassicPhase.PREPARING
    group.deadlines.set(JOIN, turn.now_ms + delay_ms)
    group.occupy(turn)


def _begin_generation(group: ClassicGroup, turn: Turn) -> None:
    group.protocol = group.elected_protocol()
    group.phase = ClassicPhase.COMPLETING
    for member in group.members.values():
        if member.join_ticket is not None:
            turn.answer(member.join_ticket, joined(group, member))
            member.join_ticket = None
        member.is_new = False
        group.keep_alive(member, turn.now_ms)
    group.joining.clear()
    group.unsynced = set(group.members)
    group.deadlines.set(SYNC, turn.now_ms + group.rebalance_timeout_ms())


def _become_empty(group: ClassicGroup, turn: Turn) -> None:
    group.protocol = None
    group.phase = ClassicPhase.EMPTY
    group.settle(turn)


def _elect_leader(group: ClassicGroup) -> bool:
    """Make sure that the leader has joined. Returns False if nobody has."""
    leader = group.members.get(group.leader or "")
    if leader is not None and leader.join_ticket is not None:
        return True
    group.leader = next(
        (member.id for member in group.members.values() if member.join_ticket is not None), group.leader
    )
    return bool(group.joining)


def _send_back_to_join(group: ClassicGroup, turn: Turn) -> None:
    for member in group.members.values():
        member.assignment = b""
        if member.sync_ticket is not None:
            group.refuse_sync(member, turn, RebalanceInProgress("another rebalance has begun: join again"))
            group.keep_alive(member, turn.now_ms)
