"""JoinGroup: a member joins, returns, or repeats its request.

new dynamic member -> (from version 4) an id first -> added, rebalance
new static member  -> added, rebalance; or takes its instance over, mostly without a rebalance
known member       -> parked for the next generation, or told the current one when nothing has changed
"""

from lakestream.broker.groups.asks import UNKNOWN_MEMBER_ID, JoinAsk, Joined, JoinRefused
from lakestream.broker.groups.classic.group import ClassicGroup, ClassicPhase
from lakestream.broker.groups.classic.member import ClassicMember, new_member
from lakestream.broker.groups.classic.rebalance import complete_if_all_joined, joined, prepare, prepare_or_go_on
from lakestream.broker.groups.errors import (
    GroupFull,
    GroupTooLarge,
    InconsistentProtocol,
    MemberIdRequired,
    UnknownMember,
)
from lakestream.broker.groups.saved.state import offered_bytes
from lakestream.broker.groups.turn import Ticket, Timer, TimerKind, Turn
from lakestream.model.errors import InvalidRequest, LakestreamError


def join(group: ClassicGroup, ask: JoinAsk, ticket: Ticket, turn: Turn) -> None:
    try:
        _check_room(group, ask, turn)
        if not group.can_work_with(ask.protocol_type, ask.offers):
            raise InconsistentProtocol(f"group '{group.group}' works with other protocols than this member offers")
        if ask.member_id == UNKNOWN_MEMBER_ID:
            _join_new(group, ask, ticket, turn)
        elif ask.member_id in group.pending:
            _add(group, ask.member_id, ask, ticket, turn)
        else:
            _join_known(group, ask, ticket, turn)
    except LakestreamError as error:
        member_id = UNKNOWN_MEMBER_ID if isinstance(error, GroupFull) else ask.member_id
        turn.answer(ticket, JoinRefused(error=error, member_id=member_id))


def _check_room(group: ClassicGroup, ask: JoinAsk, turn: Turn) -> None:
    limits, size = turn.limits, offered_bytes(ask.offers)
    if size > limits.member_bytes_max:
        raise InvalidRequest(
            f"the member's metadata has {size} bytes, more than {limits.member_bytes_max}: subscribe to less"
        )
    if not _has_room(group, ask.member_id, limits.members_max):
        if ask.member_id in group.members:
            group.remove(ask.member_id, turn)
        raise GroupFull(f"group '{group.group}' has {limits.members_max} members, as many as it may have")
    if ask.member_id not in group.members and group.offered_bytes + size > limits.group_bytes_max:
        raise GroupTooLarge(
            f"group '{group.group}' keeps {group.offered_bytes} bytes of metadata already: subscribe to less"
        )


def _has_room(group: ClassicGroup, member_id: str, members_max: int) -> bool:
    """While members join, only the joined ones count, so that the last to return are left out.

    Member ids given out in the first step count as well. Otherwise requests for ids could fill the memory."""
    if member_id == UNKNOWN_MEMBER_ID and len(group.pending) >= members_max:
        return False
    if group.phase is ClassicPhase.PREPARING:
        return member_id in group.joining or len(group.joining) < members_max
    return group.phase is ClassicPhase.EMPTY or member_id in group.members or len(group.members) < members_max


def _join_new(group: ClassicGroup, ask: JoinAsk, ticket: Ticket, turn: Turn) -> None:
    if ask.instance_id is not None:
        known = group.instances.get(ask.instance_id)
        if known is not None:
            _take_over(group, known, ask, ticket, turn)
            return
    elif ask.needs_known_member_id:
        group.pending.add(ask.fresh_member_id)
        timer = Timer(TimerKind.SESSION, ask.fresh_member_id)
        group.deadlines.set(timer, turn.now_ms + ask.session_timeout_ms)
        error = MemberIdRequired("join again with the member id of this answer")
        turn.answer(ticket, JoinRefused(error=error, member_id=ask.fresh_member_id))
        return
    _add(group, ask.fresh_member_id, ask, ticket, turn)


def _add(group: ClassicGroup, member_id: str, ask: JoinAsk, ticket: Ticket, turn: Turn) -> None:
    member = new_member(member_id, ask)
    group.joined_since_delay = True
    group.add(member, ask.protocol_type)
    group.park_join(member, ticket, turn)
    group.deadlines.set(Timer(TimerKind.SESSION, member_id), turn.now_ms + turn.limits.new_member_join_timeout_ms)
    prepare_or_go_on(group, turn)


def _join_known(group: ClassicGroup, ask: JoinAsk, ticket: Ticket, turn: Turn) -> None:
    member = group.known_member(ask.member_id, ask.instance_id)
    unchanged = member.offers == ask.offers
    match group.phase:
        case ClassicPhase.COMPLETING if unchanged:
            turn.answer(ticket, joined(group, member))  # the first answer was lost
        case ClassicPhase.STABLE if unchanged and group.leader != member.id:
            turn.answer(ticket, joined(group, member))
        case ClassicPhase.EMPTY:
            raise UnknownMember(f"group '{group.group}' has no members: join again without a member id")
        case _:  # the leader joins again when it sees that topics have changed
            _rejoin(group, member, ask, ticket, turn)
            prepare_or_go_on(group, turn)


def _rejoin(group: ClassicGroup, member: ClassicMember, ask: JoinAsk, ticket: Ticket, turn: Turn) -> None:
    group.update(member, ask.offers, ask.session_timeout_ms, ask.rebalance_timeout_ms)
    group.park_join(member, ticket, turn)


def _take_over(group: ClassicGroup, old_id: str, ask: JoinAsk, ticket: Ticket, turn: Turn) -> None:
    """A static member returned without its member id."""
    leader_before = group.leader
    member = group.replace_static(old_id, ask.fresh_member_id, turn)
    votes_the_same = [offer.name for offer in member.offers] == [offer.name for offer in ask.offers]
    member.client_id, member.client_host = ask.client
    group.keep_alive(member, turn.now_ms)
    group.update(member, ask.offers, ask.session_timeout_ms, ask.rebalance_timeout_ms)
    if group.phase is ClassicPhase.STABLE and (votes_the_same or group.elected_protocol() == group.protocol):
        turn.answer(ticket, _took_over(group, member, leader_before or "", ask.can_skip_assignment))
        group.settle_one(old_id, member, turn)
        return
    group.park_join(member, ticket, turn)
    match group.phase:
        case ClassicPhase.STABLE:
            prepare_or_go_on(group, turn)
        case ClassicPhase.COMPLETING:
            prepare(group, turn)  # the leader may be assigning to the old id already
        case _:
            complete_if_all_joined(group, turn)


def _took_over(group: ClassicGroup, member: ClassicMember, leader_before: str, can_skip: bool) -> Joined:
    """Answer a takeover without a rebalance, so nobody should assign. Older clients are told a leader that is gone,
    which keeps them from assigning."""
    if can_skip:
        answer = joined(group, member)
        return Joined(
            member_id=answer.member_id,
            generation=answer.generation,
            protocol_type=answer.protocol_type,
            protocol=answer.protocol,
            leader=answer.leader,
            members=answer.members,
            skip_assignment=group.leader == member.id,
        )
    return Joined(
        member_id=member.id,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=leader_before,
    )
