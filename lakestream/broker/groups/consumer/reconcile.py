"""One step of a member towards its target assignment: what it keeps, what it must release, what it may have now.

    STABLE      has its target, or goes for a new one
    UNREVOKED   was told to let partitions go; stays in its epoch until it says that it has
    UNRELEASED  is in the target's epoch, but some partitions are still held by others

A partition is given only when nobody else holds it, so it never has two readers.
"""

from collections.abc import Callable
from dataclasses import replace

from lakestream.broker.groups.saved.state import NO_PARTITIONS, Assignment, ConsumerMember, MemberState
from lakestream.model.group import TopicPartition

HolderOf = Callable[[TopicPartition], str | None]


def reconcile(
    member: ConsumerMember, *, target: Assignment, target_epoch: int, owned: Assignment | None, holder_of: HolderOf
) -> ConsumerMember:
    """`owned` is the member's own account of its partitions; None if it gave none."""
    if member.state is MemberState.STABLE and member.epoch == target_epoch:
        return member
    if member.state is MemberState.UNREVOKED and _still_owns(member.revoking, owned):
        return member
    return _step(member, target, target_epoch, owned, holder_of)


def is_reconciled(member: ConsumerMember, target_epoch: int) -> bool:
    return member.state is MemberState.STABLE and member.epoch == target_epoch


def _step(
    member: ConsumerMember, target: Assignment, target_epoch: int, owned: Assignment | None, holder_of: HolderOf
) -> ConsumerMember:
    kept = member.assigned & target
    revoking = member.assigned - kept
    if revoking and _still_owns(revoking, owned):
        return replace(member, state=MemberState.UNREVOKED, assigned=kept, revoking=revoking)
    wanted = target - kept
    free = frozenset(partition for partition in wanted if holder_of(partition) in (None, member.id))
    state = MemberState.STABLE if free == wanted else MemberState.UNRELEASED
    return replace(member.at_epoch(target_epoch), state=state, assigned=kept | free, revoking=NO_PARTITIONS)


def _still_owns(revoking: Assignment, owned: Assignment | None) -> bool:
    return owned is None or not revoking.isdisjoint(owned)
