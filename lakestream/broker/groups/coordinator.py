"""Membership requests of a group's members, in all protocols.

verb -> the group, held -> a turn of its machine -> saved if it changed -> answered
"""

from lakestream.broker.groups.asks import (
    ConsumerHeartbeatAnswer,
    ConsumerHeartbeatAsk,
    HeartbeatAsk,
    JoinAsk,
    Joined,
    JoinRefused,
    LeaveAsk,
    Left,
    ShareHeartbeatAnswer,
    ShareHeartbeatAsk,
    SyncAsk,
    Synced,
    SyncRefused,
)
from lakestream.broker.groups.consumer.heartbeat import check_ask
from lakestream.broker.groups.errors import GroupNotFound, InconsistentProtocol, InvalidSessionTimeout, UnknownMember
from lakestream.broker.groups.held import HeldGroup, told_to_clients
from lakestream.broker.groups.holdings import Holdings
from lakestream.broker.groups.machine import refuse_unknown_group
from lakestream.broker.groups.saved.state import JOINING_EPOCH
from lakestream.broker.groups.share.heartbeat import check_share_ask
from lakestream.metadata.group_store import GroupStore
from lakestream.model.errors import LakestreamError, Unavailable


class Coordinator:
    def __init__(self, holdings: Holdings, store: GroupStore) -> None:
        self._holdings = holdings
        self._store = store

    async def join(self, ask: JoinAsk) -> Joined | JoinRefused:
        """Waits for the next generation. A refusal carries the member id for the answer."""
        try:
            held = await self._hold_for_join(ask)
            if isinstance(held, JoinRefused):
                return held
            ticket, answer = held.park()
            turn = self._holdings.turn(ask.group)
            held.machine.join(ask, ticket, turn)
            self._holdings.settle_later(held, turn)
            told = await answer
        except LakestreamError as error:
            return JoinRefused(error=error, member_id=ask.member_id)
        assert isinstance(told, Joined | JoinRefused)
        return told

    async def sync(self, ask: SyncAsk) -> Synced:
        """Waits for the leader's assignment."""
        held = await self._hold_known(ask.group)
        ticket, answer = held.park()
        turn = self._holdings.turn(ask.group)
        held.machine.sync(ask, ticket, turn)
        self._holdings.settle_later(held, turn)
        told = await answer
        if isinstance(told, SyncRefused):
            raise told.error
        assert isinstance(told, Synced)
        return told

    async def heartbeat(self, ask: HeartbeatAsk) -> None:
        held = await self._hold_known(ask.group)
        turn = self._holdings.turn(ask.group)
        held.machine.heartbeat(ask, turn)
        await self._holdings.settle(held, turn)

    async def leave(self, ask: LeaveAsk) -> list[Left]:
        """The result of each leaver, in their order."""
        held = await self._holdings.hold(ask.group)
        if held is None:
            return [Left(leaver, UnknownMember(f"there is no group '{ask.group}'")) for leaver in ask.leavers]
        turn = self._holdings.turn(ask.group)
        left = held.machine.leave(ask, turn)
        await self._holdings.settle(held, turn)
        return left

    async def consumer_heartbeat(self, ask: ConsumerHeartbeatAsk) -> ConsumerHeartbeatAnswer:
        check_ask(ask, self._holdings.limits)
        held = await self._holdings.hold(ask.group, create=ask.member_epoch == JOINING_EPOCH)
        if held is None:
            raise GroupNotFound(f"Group {ask.group} not found.")
        turn = self._holdings.turn(ask.group)
        answer = held.machine.consumer_heartbeat(ask, turn)
        await self._holdings.settle(held, turn)
        return answer

    async def share_heartbeat(self, ask: ShareHeartbeatAsk) -> ShareHeartbeatAnswer:
        check_share_ask(ask, self._holdings.limits)
        held = await self._holdings.hold(ask.group, create=ask.member_epoch == JOINING_EPOCH)
        if held is None:
            raise GroupNotFound(f"Group {ask.group} not found.")
        if held.machine.is_fresh:
            await self._check_no_offsets(ask.group)
        turn = self._holdings.turn(ask.group)
        answer = held.machine.share_heartbeat(ask, turn)
        await self._holdings.settle(held, turn)
        return answer

    async def _check_no_offsets(self, group: str) -> None:
        """A group that nobody has joined may still be one that consumers outside of it commit to."""
        try:
            offsets = await self._store.fetch_offsets(group, None)
        except Unavailable as error:
            raise told_to_clients(group, error) from error
        if offsets:
            raise GroupNotFound(f"Group {group} is not a share group.")

    async def _hold_known(self, name: str) -> HeldGroup:
        held = await self._holdings.hold(name)
        if held is None:
            raise UnknownMember(f"there is no group '{name}': join again")
        return held

    async def _hold_for_join(self, ask: JoinAsk) -> HeldGroup | JoinRefused:
        self._holdings.check_ours(ask.group)
        limits = self._holdings.limits
        low, high = limits.session_timeout_ms_min, limits.session_timeout_ms_max
        if not low <= ask.session_timeout_ms <= high:
            raise InvalidSessionTimeout(
                f"session.timeout.ms is {ask.session_timeout_ms}: this broker allows {low} to {high}"
            )
        if "\0" in ask.protocol_type:
            raise InconsistentProtocol("a protocol type cannot hold the character NUL")
        refused = refuse_unknown_group(ask)
        held = await self._holdings.hold(ask.group, create=refused is None)
        if held is not None:
            return held
        assert refused is not None
        return refused
