"""A classic group as data: its members, and the simple changes that joining, syncing and staying are made of.

    Empty -> PreparingRebalance (members join) -> CompletingRebalance (the leader assigns) -> Stable -> ...

The group updates its counts as members come and go, so that no request iterates over all members.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from lakestream.broker.groups.asks import CONSUMER_PROTOCOL, JoinedMember, JoinRefused, SyncRefused
from lakestream.broker.groups.classic.member import ClassicMember, restored_member
from lakestream.broker.groups.deadlines import Deadlines
from lakestream.broker.groups.embedded import subscribed_topics
from lakestream.broker.groups.errors import FencedInstance, RebalanceInProgress, UnknownMember
from lakestream.broker.groups.saved.state import ClassicState, ProtocolOffer, offered_bytes
from lakestream.broker.groups.turn import Ticket, Timer, TimerKind, Turn
from lakestream.model.errors import LakestreamError


class ClassicPhase(StrEnum):
    """Kafka's names, since tools show them."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"


class InitialDelay(NamedTuple):
    """The first rebalance of an empty group waits `delay_ms`, and again as long as members keep coming."""

    delay_ms: int
    remaining_ms: int


class ClassicGroup:
    def __init__(self, group: str, generation: int = 0) -> None:
        self.group = group
        self.phase = ClassicPhase.EMPTY
        self.generation = generation
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.instances: dict[str, str] = {}
        self.pending: set[str] = set()
        """Member ids that the first step of a join gave out, and whose second step has not come."""
        self.joining: set[str] = set()
        """Members with a waiting join."""
        self.unsynced: set[str] = set()
        """Members of this generation that have not asked for their assignment."""
        self.initial: InitialDelay | None = None
        """Set while the group prepares its first rebalance after being empty."""
        self.joined_since_delay = False
        self.deadlines: Deadlines[Timer] = Deadlines()
        self.settled = ClassicState(generation=generation)
        """The saved state: the last finished generation, not the one that is being formed."""
        self.offered_bytes = 0
        self._offered: Counter[str] = Counter()

    # --- looking -------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def all_joined(self) -> bool:
        return len(self.joining) == len(self.members) and not self.pending

    @property
    def uses_consumer_protocol(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL

    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def known_member(self, member_id: str, instance_id: str | None) -> ClassicMember:
        """Raises UnknownMember, FencedInstance."""
        if instance_id is not None:
            holder = self.instances.get(instance_id)
            if holder is None:
                raise UnknownMember(f"group '{self.group}' has no member with instance id '{instance_id}': join again")
            if holder != member_id:
                raise FencedInstance(
                    f"instance id '{instance_id}' of group '{self.group}' was taken over by another member"
                )
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMember(f"'{member_id}' is no member of group '{self.group}': join again")
        return member

    def can_work_with(self, protocol_type: str, offers: Iterable[ProtocolOffer]) -> bool:
        """Whether a joining member and the present ones have a protocol in common."""
        if self.phase is ClassicPhase.EMPTY:
            return bool(protocol_type) and any(True for _ in offers)
        shared = len(self.members)
        return protocol_type == self.protocol_type and any(self._offered[offer.name] == shared for offer in offers)

    def elected_protocol(self) -> str:
        """Of the protocols that all members know, the one that most members prefer."""
        candidates = frozenset(name for name, count in self._offered.items() if count == len(self.members))
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return max(votes, key=votes.__getitem__)

    def joined_members(self) -> tuple[JoinedMember, ...]:
        return tuple(member.told_to_leader(self.protocol) for member in self.members.values())

    def subscribed(self) -> frozenset[str] | None:
        """The topics that the members read. None if the broker cannot read the members' metadata."""
        if not self.members:
            return frozenset()
        if not self.uses_consumer_protocol or self.protocol is None:
            return None
        metadata = [member.metadata(self.protocol) for member in self.members.values()]
        return subscribed_topics(metadata)

    # --- members come and go -------------------------------------------------------------------

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        if self.leader is None:
            self.leader = member.id
        self.members[member.id] = member
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.id
        self.pending.discard(member.id)
        self._count(member.offers, 1)

    def remove(self, member_id: str, turn: Turn) -> None:
        """Remove the member and refuse its waiting requests. If it is alive after all, it joins again."""
        member = self.members.pop(member_id)
        self.unpark(member, turn, UnknownMember(f"'{member_id}' was removed from group '{self.group}': join again"))
        if member.instance_id is not None and self.instances.get(member.instance_id) == member_id:
            del self.instances[member.instance_id]
        self._count(member.offers, -1)
        self.unsynced.discard(member_id)
        self.deadlines.cancel(Timer(TimerKind.SESSION, member_id))
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)

    def forget_pending(self, member_id: str) -> None:
        self.pending.discard(member_id)
        self.deadlines.cancel(Timer(TimerKind.SESSION, member_id))

    def update(
        self, member: ClassicMember, offers: tuple[ProtocolOffer, ...], session_ms: int, rebalance_ms: int
    ) -> None:
        self._count(member.offers, -1)
        self._count(offers, 1)
        member.offers, member.session_timeout_ms, member.rebalance_timeout_ms = offers, session_ms, rebalance_ms

    def replace_static(self, old_id: str, new_id: str, turn: Turn) -> ClassicMember:
        """A static member returns under a new id. Requests under the old id are fenced."""
        member = self.members.pop(old_id)
        self.unpark(
            member, turn, FencedInstance(f"instance id '{member.instance_id}' was taken over by another member")
        )
        self.deadlines.cancel(Timer(TimerKind.SESSION, old_id))
        if old_id in self.unsynced:
            self.unsynced.remove(old_id)
            self.unsynced.add(new_id)
        member.id = new_id
        self.members[new_id] = member
        assert member.instance_id is not None
        self.instances[member.instance_id] = new_id
        if self.leader == old_id:
            self.leader = new_id
        return member

    # --- waiting requests ----------------------------------------------------------------------

    def park_join(self, member: ClassicMember, ticket: Ticket, turn: Turn) -> None:
        if member.join_ticket is not None:  # a repeat: the connection of the first one is gone
            error = RebalanceInProgress("the member has joined again over another connection")
            turn.answer(member.join_ticket, JoinRefused(error=error, member_id=member.id))
        member.join_ticket = ticket
        self.joining.add(member.id)

    def unpark(self, member: ClassicMember, turn: Turn, error: LakestreamError) -> None:
        """Refuse the member's waiting requests."""
        if member.join_ticket is not None:
            turn.answer(member.join_ticket, JoinRefused(error=error, member_id=""))
            member.join_ticket = None
        self.joining.discard(member.id)
        self.refuse_sync(member, turn, error)

    def refuse_sync(self, member: ClassicMember, turn: Turn, error: LakestreamError) -> None:
        if member.sync_ticket is not None:
            turn.answer(member.sync_ticket, SyncRefused(error=error))
            member.sync_ticket = None

    def keep_alive(self, member: ClassicMember, now_ms: int) -> None:
        self.deadlines.set(Timer(TimerKind.SESSION, member.id), now_ms + member.session_timeout_ms)

    # --- saving --------------------------------------------------------------------------------

    def settle(self, turn: Turn) -> None:
        """Record the state that another coordinator would continue from: a finished generation, or an empty group."""
        self.settled = ClassicState(
            generation=self.generation,
            protocol_type=self.protocol_type,
            protocol=self.protocol,
            leader=self.leader,
            members=tuple(member.saved() for member in self.members.values()),
            occupied=self.phase is not ClassicPhase.EMPTY,
        )
        turn.persist = True

    def settle_one(self, old_id: str, member: ClassicMember, turn: Turn) -> None:
        """Change one member's id in a settled generation. Thousands may return at once, so each costs only itself."""
        members = (*(saved for saved in self.settled.members if saved.id != old_id), member.saved())
        self.settled = replace(self.settled, leader=self.leader, members=members)
        turn.persist = True

    def occupy(self, turn: Turn) -> None:
        """Tell the store that the group is in use. Otherwise the store would let its offsets expire."""
        self.settled = replace(self.settled, occupied=True)
        turn.persist = True

    def _count(self, offers: tuple[ProtocolOffer, ...], by: int) -> None:
        for name in {offer.name for offer in offers}:
            self._offered[name] += by
            if not self._offered[name]:
                del self._offered[name]
        self.offered_bytes += by * offered_bytes(offers)


def restored_group(group: str, state: ClassicState, turn: Turn) -> ClassicGroup:
    """The group as its former coordinator saved it: stable, with a new session for every member."""
    restored = ClassicGroup(group, state.generation)
    for saved in state.members:
        member = restored_member(saved)
        restored.add(member, state.protocol_type or "")
        restored.keep_alive(member, turn.now_ms)
    restored.protocol_type, restored.protocol = state.protocol_type, state.protocol
    restored.leader, restored.settled = state.leader, state
    if state.members:
        restored.phase = ClassicPhase.STABLE
    elif state.occupied:
        restored.settle(turn)  # members that were joining are not known here: it is empty, and the store should know
    return restored
