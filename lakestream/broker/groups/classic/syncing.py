"""SyncGroup: members wait until the leader has brought the assignment, which settles the generation."""

from lakestream.broker.groups.asks import SyncAsk, Synced, SyncRefused
from lakestream.broker.groups.classic.group import ClassicGroup, ClassicPhase
from lakestream.broker.groups.classic.member import ClassicMember
from lakestream.broker.groups.classic.rebalance import SYNC
from lakestream.broker.groups.errors import GroupTooLarge, InconsistentProtocol, RebalanceInProgress
from lakestream.broker.groups.turn import Ticket, Turn
from lakestream.model.errors import IllegalGeneration, LakestreamError


def sync(group: ClassicGroup, ask: SyncAsk, ticket: Ticket, turn: Turn) -> None:
    try:
        member = _checked_member(group, ask)
        if group.phase is ClassicPhase.PREPARING:
            raise RebalanceInProgress(f"group '{group.group}' is rebalancing: join again")
        is_leader = group.leader == member.id
        if is_leader and group.phase is ClassicPhase.COMPLETING:
            _check_size(group, ask, turn)
    except LakestreamError as error:
        turn.answer(ticket, SyncRefused(error=error))
        return
    group.unsynced.discard(member.id)
    if not group.unsynced:
        group.deadlines.cancel(SYNC)
    if group.phase is ClassicPhase.STABLE:
        turn.answer(ticket, _synced(group, member))
        return
    _park(group, member, ticket, turn)
    if is_leader:
        _settle(group, ask, turn)


def _checked_member(group: ClassicGroup, ask: SyncAsk) -> ClassicMember:
    member = group.known_member(ask.member_id, ask.instance_id)
    if ask.generation != group.generation:
        raise IllegalGeneration(
            f"group '{group.group}' is in generation {group.generation}, not {ask.generation}: join again"
        )
    if _differs(ask.protocol_type, group.protocol_type) or _differs(ask.protocol, group.protocol):
        raise InconsistentProtocol(f"group '{group.group}' works with {group.protocol_type}/{group.protocol}")
    return member


def _differs(asked: str | None, known: str | None) -> bool:
    return asked is not None and known is not None and asked != known


def _check_size(group: ClassicGroup, ask: SyncAsk, turn: Turn) -> None:
    size = sum(map(len, ask.assignments.values()))
    if size > turn.limits.group_bytes_max:
        raise GroupTooLarge(f"the assignment of group '{group.group}' has {size} bytes, more than is kept for a group")


def _park(group: ClassicGroup, member: ClassicMember, ticket: Ticket, turn: Turn) -> None:
    if member.sync_ticket is not None:
        group.refuse_sync(member, turn, RebalanceInProgress("the member has asked again over another connection"))
    member.sync_ticket = ticket


def _settle(group: ClassicGroup, ask: SyncAsk, turn: Turn) -> None:
    """A member that the leader left out gets nothing. It does not keep its former assignment."""
    group.phase = ClassicPhase.STABLE
    for member in group.members.values():
        member.assignment = ask.assignments.get(member.id, b"")
        if member.sync_ticket is not None:
            turn.answer(member.sync_ticket, _synced(group, member))
            member.sync_ticket = None
            group.keep_alive(member, turn.now_ms)
    group.settle(turn)


def _synced(group: ClassicGroup, member: ClassicMember) -> Synced:
    return Synced(protocol_type=group.protocol_type, protocol=group.protocol, assignment=member.assignment)
