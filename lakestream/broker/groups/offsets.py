"""The rules for committing, reading and deleting a group's offsets, in Kafka's order. The store holds the offsets.

A missing group is passed as None.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.broker.groups.asks import UNKNOWN_MEMBER_ID
from lakestream.broker.groups.classic.group import ClassicGroup, ClassicPhase
from lakestream.broker.groups.consumer.group import ConsumerGroup
from lakestream.broker.groups.errors import (
    GroupNotEmpty,
    GroupNotFound,
    RebalanceInProgress,
    StaleMemberEpoch,
    UnknownMember,
    UnsupportedCommit,
)
from lakestream.broker.groups.saved.state import ConsumerMember
from lakestream.broker.groups.share.group import ShareGroup
from lakestream.model.errors import IllegalGeneration
from lakestream.model.group import NO_GENERATION, CommittedOffset, TopicPartition

Group = ClassicGroup | ConsumerGroup | ShareGroup


class CommitAsk(NamedTuple):
    """Every commit makes one, so it is a tuple."""

    group: str
    offsets: Mapping[TopicPartition, CommittedOffset]
    member_id: str = UNKNOWN_MEMBER_ID
    instance_id: str | None = None
    generation: int = NO_GENERATION
    """The generation or the member epoch."""
    retention_ms: int | None = None
    """OffsetCommit 2-4 may set it. None means the broker's setting."""
    knows_member_epochs: bool = True
    """OffsetCommit 9 and above."""
    in_transaction: bool = False
    """The offsets are part of a transaction, and its producer says who commits."""

    @property
    def is_anonymous(self) -> bool:
        return self.generation < 0 and self.member_id == UNKNOWN_MEMBER_ID and self.instance_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetchAsk:
    group: str
    member_id: str | None = None
    member_epoch: int = NO_GENERATION


def check_commit(group: Group | None, ask: CommitAsk, now_ms: int) -> int:
    """The generation that must still be current when the commit is stored. Raises the error for the client.

    A producer may commit to a group with members and name none of them: not all clients tell it who reads. Its own
    epoch is its only guard then."""
    if group is None:
        return _check_without_group(ask)
    if ask.in_transaction and ask.is_anonymous:
        return NO_GENERATION
    if isinstance(group, ClassicGroup):
        return _check_classic_commit(group, ask, now_ms)
    if isinstance(group, ShareGroup):
        raise GroupNotFound(f"'{ask.group}' is a share group: its members acknowledge records, and commit no offsets")
    _check_consumer_commit(group, ask)
    # The epochs of members rise one by one, so the group's epoch is no guard. The coordinator keeps commits and saves
    # in order.
    return NO_GENERATION


def check_fetch(group: Group | None, ask: OffsetFetchAsk) -> None:
    """Anyone may read, but a client that claims to be a member must be one."""
    if isinstance(group, ConsumerGroup) and not (ask.member_id is None and ask.member_epoch < 0):
        _check_member_epoch(_member(group, ask.member_id or ""), ask.member_epoch)


def check_delete_group(group: Group | None, name: str) -> None:
    if group is None:
        raise GroupNotFound(f"there is no group '{name}'")
    if not group.is_empty or (isinstance(group, ClassicGroup) and group.phase is not ClassicPhase.EMPTY):
        raise GroupNotEmpty(f"group '{name}' has members: stop them first")


def check_delete_offsets(group: Group | None, name: str) -> frozenset[str]:
    """The topics whose offsets must stay because members read them."""
    if group is None:
        raise GroupNotFound(f"there is no group '{name}'")
    if isinstance(group, ShareGroup):
        raise GroupNotFound(f"'{name}' is a share group: delete its offsets with DeleteShareGroupOffsets")
    subscribed = group.subscribed()
    if subscribed is None:
        raise GroupNotEmpty(f"group '{name}' has members, and only they know what they read: stop them first")
    return subscribed


def _check_without_group(ask: CommitAsk) -> int:
    """A client outside of any generation may commit freely: its offsets create the group."""
    if ask.generation < 0:
        return NO_GENERATION
    if ask.knows_member_epochs:
        raise GroupNotFound(f"there is no group '{ask.group}'")
    raise IllegalGeneration(f"there is no group '{ask.group}', so no generation {ask.generation}")


def _check_classic_commit(group: ClassicGroup, ask: CommitAsk, now_ms: int) -> int:
    if ask.generation < 0 and group.phase is ClassicPhase.EMPTY:
        return NO_GENERATION
    if ask.is_anonymous:
        raise UnknownMember(f"group '{ask.group}' has members: only they commit")
    member = group.known_member(ask.member_id, ask.instance_id)
    if ask.generation != group.generation:
        raise IllegalGeneration(
            f"group '{ask.group}' is in generation {group.generation}, not {ask.generation}: join again"
        )
    if group.phase is ClassicPhase.COMPLETING:
        raise RebalanceInProgress(f"group '{ask.group}' is rebalancing: join again")
    group.keep_alive(member, now_ms)  # a commit shows life
    return ask.generation


def _check_consumer_commit(group: ConsumerGroup, ask: CommitAsk) -> None:
    if ask.generation < 0 and group.is_empty:
        return
    member = _member(group, ask.member_id)
    if member.classic is None and not ask.knows_member_epochs:
        raise UnsupportedCommit(
            "OffsetCommit version 9 or above must be used by members using the consumer group protocol"
        )
    _check_member_epoch(member, ask.generation)


def _member(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    member = group.members.get(member_id)
    if member is None:
        raise UnknownMember(f"'{member_id}' is no member of group '{group.group}'")
    return member


def _check_member_epoch(member: ConsumerMember, epoch: int) -> None:
    if epoch == member.epoch:
        return
    if member.classic is not None:
        raise IllegalGeneration(f"member '{member.id}' is in generation {member.epoch}, not {epoch}: join again")
    raise StaleMemberEpoch(f"member '{member.id}' is in epoch {member.epoch}, not {epoch}: heartbeat, then retry")
