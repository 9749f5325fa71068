"""Descriptions of groups for administrators: DescribeGroups, ConsumerGroupDescribe, ShareGroupDescribe, ListGroups."""

from dataclasses import dataclass

from lakestream.broker.groups.asks import CONSUMER_PROTOCOL, SHARE_PROTOCOL
from lakestream.broker.groups.classic.group import ClassicGroup, ClassicPhase
from lakestream.broker.groups.consumer.group import ConsumerGroup
from lakestream.broker.groups.saved.state import Assignment, ConsumerMember, ShareMember
from lakestream.broker.groups.share.assignor import ASSIGNOR
from lakestream.broker.groups.share.group import ShareGroup
from lakestream.model.group import GroupKind

DEAD = "Dead"
"""The phase reported for a group that does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicMemberDescription:
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicDescription:
    group: str
    phase: str
    protocol_type: str
    protocol: str
    members: tuple[ClassicMemberDescription, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerDescription:
    group: str
    phase: str
    epoch: int
    target_epoch: int
    assignor: str
    members: tuple["ConsumerMemberDescription", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMemberDescription:
    """`member.assigned` is the current assignment, `target` the one it moves to. Includes classic members."""

    member: ConsumerMember
    target: Assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareDescription:
    group: str
    phase: str
    epoch: int
    assignor: str
    members: tuple["ShareMemberDescription", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareMemberDescription:
    member: ShareMember
    assigned: Assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupListing:
    group: str
    kind: GroupKind
    protocol_type: str
    phase: str


def describe_classic(group: ClassicGroup) -> ClassicDescription:
    """Subscriptions and assignments appear only once they are settled."""
    stable = group.phase is ClassicPhase.STABLE
    return ClassicDescription(
        group=group.group,
        phase=group.phase,
        protocol_type=group.protocol_type or "",
        protocol=(group.protocol or "") if stable else "",
        members=tuple(
            ClassicMemberDescription(
                member_id=member.id,
                instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                metadata=member.metadata(group.protocol) if stable else b"",
                assignment=member.assignment if stable else b"",
            )
            for member in group.members.values()
        ),
    )


def describe_consumer(group: ConsumerGroup) -> ConsumerDescription:
    return ConsumerDescription(
        group=group.group,
        phase=group.phase,
        epoch=group.epoch,
        target_epoch=group.target_epoch,
        assignor=group.assignor,
        members=tuple(
            ConsumerMemberDescription(member=member, target=group.target_of(member.id))
            for member in group.members.values()
        ),
    )


def describe_share(group: ShareGroup) -> ShareDescription:
    return ShareDescription(
        group=group.group,
        phase=group.phase,
        epoch=group.epoch,
        assignor=ASSIGNOR,
        members=tuple(
            ShareMemberDescription(member=member, assigned=group.assigned(member.id))
            for member in group.members.values()
        ),
    )


def listing(group: ClassicGroup | ConsumerGroup | ShareGroup) -> GroupListing:
    if isinstance(group, ClassicGroup):
        kind, protocol_type = GroupKind.CLASSIC, group.protocol_type or ""
    elif isinstance(group, ShareGroup):
        kind, protocol_type = GroupKind.SHARE, SHARE_PROTOCOL
    else:
        kind, protocol_type = GroupKind.CONSUMER, CONSUMER_PROTOCOL
    return GroupListing(group=group.group, kind=kind, protocol_type=protocol_type, phase=group.phase)
