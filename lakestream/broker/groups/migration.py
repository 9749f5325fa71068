"""Changes a running group's protocol in both directions (KIP-848): nobody stops, no partition has two readers.

upgrade    a member of the new protocol joins a classic group of consumers: all become members of a consumer group
downgrade  the last member of the new protocol leaves: the others, all classic, form a classic group again
"""

from lakestream.broker.groups.asks import CONSUMER_PROTOCOL
from lakestream.broker.groups.classic.group import ClassicGroup, ClassicPhase
from lakestream.broker.groups.classic.member import ClassicMember
from lakestream.broker.groups.classic.rebalance import prepare
from lakestream.broker.groups.consumer.classic_members import names_of, partitions_of
from lakestream.broker.groups.consumer.group import ConsumerGroup
from lakestream.broker.groups.embedded import (
    MalformedProtocol,
    embedded_version,
    read_assignment,
    read_subscription,
    write_assignment,
)
from lakestream.broker.groups.errors import GroupNotFound, RebalanceInProgress
from lakestream.broker.groups.saved.state import ClassicSide, ConsumerMember
from lakestream.broker.groups.turn import Turn


def upgrade(group: ClassicGroup, turn: Turn) -> ConsumerGroup:
    """The same members in a consumer group; `group` is left as it was. Raises GroupNotFound, as Kafka does, if the
    group cannot be upgraded."""
    if group.is_empty:
        return ConsumerGroup(group.group, group.generation)
    if not group.uses_consumer_protocol:
        raise _cannot(group, "it does not use the consumer embedded protocol")
    if len(group.members) > turn.limits.members_max:
        raise _cannot(group, "it has too many members")
    upgraded = ConsumerGroup(group.group, group.generation)
    for former in group.members.values():
        member = _upgraded_member(group, former, turn)
        upgraded.put(member)
        upgraded.target[member.id] = member.assigned
        upgraded.keep_alive(member, turn)
    upgraded.see(turn.topics)
    return upgraded


def upgraded_from(group: ClassicGroup, turn: Turn) -> None:
    """The classic group is gone. Members that wait in it join again, and find the consumer group."""
    for former in group.members.values():
        group.unpark(former, turn, RebalanceInProgress("the group has changed its protocol: join again"))


def can_downgrade(group: ConsumerGroup, members_max: int) -> bool:
    members = group.members.values()
    return bool(members) and len(members) <= members_max and all(member.classic is not None for member in members)


def downgrade(group: ConsumerGroup, turn: Turn) -> ClassicGroup:
    """The same members in a classic group. They keep their assignments until the rebalance that begins here."""
    downgraded = ClassicGroup(group.group, group.epoch)
    for member in group.members.values():
        former = _downgraded_member(member, turn)
        downgraded.add(former, CONSUMER_PROTOCOL)
        downgraded.keep_alive(former, turn.now_ms)
    downgraded.protocol = downgraded.elected_protocol()
    downgraded.phase = ClassicPhase.STABLE
    downgraded.settle(turn)
    prepare(downgraded, turn)
    return downgraded


def _upgraded_member(group: ClassicGroup, former: ClassicMember, turn: Turn) -> ConsumerMember:
    try:
        subscription = read_subscription(former.metadata(group.protocol) or former.offers[0].metadata)
        assignment = read_assignment(former.assignment)
    except MalformedProtocol as error:
        raise _cannot(group, f"the embedded consumer protocol is malformed ({error})") from error
    if assignment.user_data:
        raise _cannot(group, "an unsupported custom assignor is in use; switch to a default one first")
    return ConsumerMember(
        id=former.id,
        instance_id=former.instance_id,
        rack=subscription.rack,
        client_id=former.client_id,
        client_host=former.client_host,
        topics=subscription.topics,
        rebalance_timeout_ms=former.rebalance_timeout_ms,
        epoch=group.generation,
        previous_epoch=group.generation,
        assigned=partitions_of(dict(assignment.partitions), turn.topics),
        classic=ClassicSide(session_timeout_ms=former.session_timeout_ms, offers=former.offers),
    )


def _downgraded_member(member: ConsumerMember, turn: Turn) -> ClassicMember:
    assert member.classic is not None
    version = embedded_version(member.classic.offers[0].metadata)
    return ClassicMember(
        id=member.id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.classic.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        offers=member.classic.offers,
        assignment=write_assignment(version, names_of(member.assigned, turn.topics)),
    )


def _cannot(group: ClassicGroup, reason: str) -> GroupNotFound:
    return GroupNotFound(f"Cannot upgrade classic group {group.group} to consumer group because {reason}.")
