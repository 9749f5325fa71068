"""One group of any protocol as a state machine: every request and every tick of the clock is one turn.

    machine.join(ask, ticket, turn) ...   -> turn.answers for requests that waited, turn.persist if it must be saved

No I/O, no clock: the same turns give the same group. `restored_machine` builds one from a saved state.
"""

from lakestream.broker.groups.asks import (
    UNKNOWN_MEMBER_ID,
    ConsumerHeartbeatAnswer,
    ConsumerHeartbeatAsk,
    HeartbeatAsk,
    JoinAsk,
    JoinRefused,
    LeaveAsk,
    Left,
    ShareHeartbeatAnswer,
    ShareHeartbeatAsk,
    SyncAsk,
    SyncRefused,
)
from lakestream.broker.groups.classic import group as classic_group
from lakestream.broker.groups.classic import joining, staying, syncing
from lakestream.broker.groups.classic.group import ClassicGroup
from lakestream.broker.groups.consumer import classic_members, heartbeat, leaving
from lakestream.broker.groups.consumer import group as consumer_group
from lakestream.broker.groups.consumer.group import ConsumerGroup
from lakestream.broker.groups.errors import GroupNotFound, InconsistentProtocol, UnknownMember
from lakestream.broker.groups.migration import can_downgrade, downgrade, upgrade, upgraded_from
from lakestream.broker.groups.saved.state import JOINING_EPOCH, ClassicState, GroupState, ShareGroupState
from lakestream.broker.groups.share import group as share_group
from lakestream.broker.groups.share.group import ShareGroup
from lakestream.broker.groups.share.heartbeat import share_heartbeat, tick_shared
from lakestream.broker.groups.turn import Ticket, Turn
from lakestream.model.errors import LakestreamError


class GroupMachine:
    def __init__(self, group: ClassicGroup | ConsumerGroup | ShareGroup) -> None:
        self.group = group

    # --- the classic protocol ------------------------------------------------------------------

    def join(self, ask: JoinAsk, ticket: Ticket, turn: Turn) -> None:
        if isinstance(self.group, ShareGroup):
            error = InconsistentProtocol(f"'{ask.group}' is a share group: choose another group.id")
            turn.answer(ticket, JoinRefused(error=error, member_id=ask.member_id))
            return
        if isinstance(self.group, ConsumerGroup) and self.group.is_empty:
            if (refused := refuse_unknown_group(ask)) is not None:
                turn.answer(ticket, refused)
                return
            self.group = ClassicGroup(self.group.group, self.group.epoch)
        if isinstance(self.group, ClassicGroup):
            joining.join(self.group, ask, ticket, turn)
        else:
            classic_members.join(self.group, ask, ticket, turn)
            self._downgrade_if_all_classic(turn)

    def sync(self, ask: SyncAsk, ticket: Ticket, turn: Turn) -> None:
        if self.group.is_empty or isinstance(self.group, ShareGroup):
            error = UnknownMember(f"group '{ask.group}' has no such member: join again")
            turn.answer(ticket, SyncRefused(error=error))
        elif isinstance(self.group, ClassicGroup):
            syncing.sync(self.group, ask, ticket, turn)
        else:
            try:
                turn.answer(ticket, classic_members.sync(self.group, ask, turn))
            except LakestreamError as error:
                turn.answer(ticket, SyncRefused(error=error))

    def heartbeat(self, ask: HeartbeatAsk, turn: Turn) -> None:
        if isinstance(self.group, ClassicGroup):
            staying.heartbeat(self.group, ask, turn)
        elif isinstance(self.group, ShareGroup):
            raise UnknownMember(f"'{ask.group}' is a share group: choose another group.id")
        else:
            classic_members.heartbeat(self.group, ask, turn)

    def leave(self, ask: LeaveAsk, turn: Turn) -> list[Left]:
        if isinstance(self.group, ClassicGroup):
            return staying.leave(self.group, ask, turn)
        if isinstance(self.group, ShareGroup):
            return [Left(leaver, UnknownMember(f"'{ask.group}' is a share group")) for leaver in ask.leavers]
        left = classic_members.leave(self.group, ask, turn)
        self._downgrade_if_all_classic(turn)
        return left

    # --- the consumer protocol -----------------------------------------------------------------

    def consumer_heartbeat(self, ask: ConsumerHeartbeatAsk, turn: Turn) -> ConsumerHeartbeatAnswer:
        """Raises the error for the member; the group is unchanged then. `ask` has passed `check_ask`."""
        if isinstance(self.group, ClassicGroup):
            return self._upgrade_with(self.group, ask, turn)
        if isinstance(self.group, ShareGroup):
            raise GroupNotFound(f"Group {ask.group} is not a consumer group.")
        if ask.member_epoch >= JOINING_EPOCH:
            return heartbeat.heartbeat(self.group, ask, turn)
        answer = leaving.leave(self.group, ask, turn)
        self._downgrade_if_all_classic(turn)
        return answer

    # --- the share protocol ----------------------------------------------------------------------

    def share_heartbeat(self, ask: ShareHeartbeatAsk, turn: Turn) -> ShareHeartbeatAnswer:
        """Raises the error for the member; the group is unchanged then. `ask` has passed `check_share_ask`."""
        if self.is_fresh and ask.member_epoch == JOINING_EPOCH:
            group = ShareGroup(ask.group)
            answer = share_heartbeat(group, ask, turn)
            self.group = group
            return answer
        if not isinstance(self.group, ShareGroup):
            raise GroupNotFound(f"Group {ask.group} is not a share group.")
        return share_heartbeat(self.group, ask, turn)

    @property
    def is_fresh(self) -> bool:
        """Whether nobody has ever joined the group, so that it may become one of any kind."""
        return isinstance(self.group, ClassicGroup) and self.group.is_empty and self.group.settled == ClassicState()

    # --- time and saving -----------------------------------------------------------------------

    def tick(self, turn: Turn) -> None:
        if isinstance(self.group, ClassicGroup):
            staying.tick(self.group, turn)
        elif isinstance(self.group, ShareGroup):
            tick_shared(self.group, turn)
        else:
            leaving.tick(self.group, turn)
            self._downgrade_if_all_classic(turn)

    def next_deadline(self) -> int | None:
        return self.group.deadlines.next()

    def snapshot(self) -> GroupState:
        return self.group.settled if isinstance(self.group, ClassicGroup) else self.group.snapshot()

    # --- changing the protocol -----------------------------------------------------------------

    def _upgrade_with(self, former: ClassicGroup, ask: ConsumerHeartbeatAsk, turn: Turn) -> ConsumerHeartbeatAnswer:
        """Only a member that joins turns a classic group into a consumer group.

        A member that was removed, and whose group has been downgraded since, is told that it is unknown, so it joins
        again. Kafka answers "group not found", which ends it."""
        if ask.member_epoch != JOINING_EPOCH:
            raise UnknownMember(f"'{ask.member_id}' is no member of group '{ask.group}': join again")
        group = upgrade(former, turn)
        answer = heartbeat.heartbeat(group, ask, turn)
        upgraded_from(former, turn)
        self.group = group
        return answer

    def _downgrade_if_all_classic(self, turn: Turn) -> None:
        if isinstance(self.group, ConsumerGroup) and can_downgrade(self.group, turn.limits.members_max):
            self.group = downgrade(self.group, turn)


def new_machine(group: str) -> GroupMachine:
    return GroupMachine(ClassicGroup(group))


def restored_machine(group: str, state: GroupState, turn: Turn) -> GroupMachine:
    if isinstance(state, ClassicState):
        return GroupMachine(classic_group.restored_group(group, state, turn))
    if isinstance(state, ShareGroupState):
        return GroupMachine(share_group.restored_group(group, state, turn))
    return GroupMachine(consumer_group.restored_group(group, state, turn))


def refuse_unknown_group(ask: JoinAsk) -> JoinRefused | None:
    """Refuse a member id in a group that does not exist: the group cannot know it."""
    if ask.member_id == UNKNOWN_MEMBER_ID:
        return None
    error = UnknownMember(f"there is no group '{ask.group}': join without a member id")
    return JoinRefused(error=error, member_id=ask.member_id)
