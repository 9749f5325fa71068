"""A consumer group as data: members, the target assignment, who holds which partition, which topics are read.

`epoch` rises with every change of members, subscriptions or topics; `target_epoch` is the epoch that the target was
computed for. The next heartbeat after a change computes the target, so ten members that leave at once cost one
computation. A large group also waits for a pause after the last target, so thousands that join at once cost a few. The
group counts subscriptions as members come and go, so that no heartbeat iterates over all members.
"""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from lakestream.broker.groups.consumer.assignors import ASSIGNORS, DEFAULT_ASSIGNOR, Subscriber
from lakestream.broker.groups.consumer.reconcile import is_reconciled
from lakestream.broker.groups.deadlines import Deadlines
from lakestream.broker.groups.errors import FencedInstance, GroupTooLarge, UnknownMember
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.saved.state import (
    NO_PARTITIONS,
    Assignment,
    ConsumerMember,
    ConsumerState,
    MemberState,
    SeenTopic,
)
from lakestream.broker.groups.topics.topics import TopicsImage
from lakestream.broker.groups.turn import Timer, TimerKind, Turn
from lakestream.model.group import TopicPartition
from lakestream.model.topic import TopicId


class ConsumerPhase(StrEnum):
    """Kafka's names, since tools show them."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class ConsumerGroup:
    def __init__(self, group: str, epoch: int = 0) -> None:
        self.group = group
        self.epoch = epoch
        self.target_epoch = epoch
        self.members: dict[str, ConsumerMember] = {}
        self.instances: dict[str, str] = {}
        self.target: dict[str, Assignment] = {}
        self.seen: dict[str, SeenTopic] = {}
        self.deadlines: Deadlines[Timer] = Deadlines()
        self._holders: dict[TopicPartition, str] = {}
        self._matches: dict[str, frozenset[str]] = {}
        self._looked_at_version = -1
        self._names: Counter[str] = Counter()
        self._expressions: Counter[str] = Counter()
        self.subscribed_bytes = 0
        self._targeted_ms: int | None = None

    # --- looking -------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def phase(self) -> ConsumerPhase:
        if not self.members:
            return ConsumerPhase.EMPTY
        if self.epoch > self.target_epoch:
            return ConsumerPhase.ASSIGNING
        if all(is_reconciled(member, self.target_epoch) for member in self.members.values()):
            return ConsumerPhase.STABLE
        return ConsumerPhase.RECONCILING

    @property
    def assignor(self) -> str:
        """The assignor that most members prefer."""
        votes = Counter(member.assignor for member in self.members.values() if member.assignor is not None)
        return max(votes, key=votes.__getitem__, default=None) or DEFAULT_ASSIGNOR

    def known_member(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """Raises UnknownMember, FencedInstance."""
        if instance_id is not None:
            holder = self.instances.get(instance_id)
            if holder is None:
                raise UnknownMember(f"group '{self.group}' has no member with instance id '{instance_id}': join again")
            if holder != member_id:
                raise FencedInstance(
                    f"static member '{member_id}' with instance id '{instance_id}' was fenced by member '{holder}'"
                )
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMember(f"'{member_id}' is no member of group '{self.group}': join again")
        return member

    def check_room_for(self, member: ConsumerMember, limits: GroupLimits) -> None:
        """Check that the member's subscription fits. Raises GroupTooLarge."""
        before = self.members.get(member.id)
        others = self.subscribed_bytes - (0 if before is None else before.subscribed_bytes)
        if others + member.subscribed_bytes > limits.group_bytes_max:
            raise GroupTooLarge(
                f"group '{self.group}' keeps {others} bytes of subscriptions already: subscribe to less"
            )
        if member.regex and member.regex not in self._expressions and len(self._expressions) >= limits.expressions_max:
            raise GroupTooLarge(f"group '{self.group}' has {limits.expressions_max} expressions already: share one")

    def holder_of(self, partition: TopicPartition) -> str | None:
        return self._holders.get(partition)

    def target_of(self, member_id: str) -> Assignment:
        return self.target.get(member_id, NO_PARTITIONS)

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """The topic names that the member subscribes to, by list and by expression. The topics may not exist."""
        return member.topics | self._matches.get(member.regex, frozenset())

    def subscribed(self) -> frozenset[str]:
        return frozenset(self._names).union(*self._matches.values())

    def waits_for_others(self, member: ConsumerMember) -> bool:
        """Whether another member still holds a partition of this member's target."""
        missing = self.target_of(member.id) - member.assigned
        return any(self.holder_of(partition) not in (None, member.id) for partition in missing)

    # --- members come and go -------------------------------------------------------------------

    def put(self, member: ConsumerMember) -> None:
        before = self.members.get(member.id)
        if before is not None:
            self._forget(before)
        self.members[member.id] = member
        for partition in member.held:
            self._holders[partition] = member.id
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.id
        self._names.update(member.topics)
        self._expressions.update([member.regex] if member.regex else [])
        self.subscribed_bytes += member.subscribed_bytes

    def replace(self, old_id: str, member: ConsumerMember) -> None:
        """A static member returns under a new id and keeps its partitions."""
        target = self.target.pop(old_id, NO_PARTITIONS)
        self.remove(old_id)
        self.target[member.id] = target
        self.put(member)

    def remove(self, member_id: str) -> None:
        self._forget(self.members.pop(member_id))
        self.target.pop(member_id, None)
        for kind in TimerKind:
            self.deadlines.cancel(Timer(kind, member_id))

    def _forget(self, member: ConsumerMember) -> None:
        if member.instance_id is not None and self.instances.get(member.instance_id) == member.id:
            del self.instances[member.instance_id]
        for partition in member.held:
            if self._holders.get(partition) == member.id:
                del self._holders[partition]
        _uncount(self._names, member.topics)
        _uncount(self._expressions, [member.regex] if member.regex else [])
        self.subscribed_bytes -= member.subscribed_bytes

    # --- topics and target ---------------------------------------------------------------------

    def look_at_topics(self, topics: TopicsImage, *, resubscribed: bool) -> None:
        """Raise the epoch if a subscription or a subscribed topic has changed."""
        if not resubscribed and topics.version == self._looked_at_version:
            return
        if self.see(topics) or resubscribed:
            self.epoch += 1

    def see(self, topics: TopicsImage) -> bool:
        """Record the subscribed topics as they are now. Returns True if they have changed."""
        known = self._matches if topics.version == self._looked_at_version else {}
        self._matches = {regex: known.get(regex) or topics.matching(regex) for regex in sorted(self._expressions)}
        found = [topics.by_name[name] for name in sorted(self.subscribed()) if name in topics.by_name]
        before, self.seen = self.seen, {topic.name: SeenTopic(topic.id, topic.partitions) for topic in found}
        self._looked_at_version = topics.version
        return self.seen != before

    def retarget_if_due(self, turn: Turn) -> None:
        """Compute the target of the current epoch, unless it has one or the last target is too recent."""
        if self.epoch == self.target_epoch:
            return
        if self._targeted_ms is None or turn.now_ms - self._targeted_ms >= turn.limits.pause_ms(len(self.members)):
            self._retarget()
            self._targeted_ms = turn.now_ms

    def _retarget(self) -> None:
        partitions: dict[TopicId, int] = {topic.id: topic.partitions for topic in self.seen.values()}
        readers = {member.id: self._reader(member) for member in self.members.values()}
        self.target = ASSIGNORS[self.assignor](readers, partitions)
        self.target_epoch = self.epoch

    def _reader(self, member: ConsumerMember) -> Subscriber:
        topics = frozenset(self.seen[name].id for name in self.topics_of(member) if name in self.seen)
        return Subscriber(member.instance_id or member.id, topics, self.target_of(member.id))

    # --- time ----------------------------------------------------------------------------------

    def keep_alive(self, member: ConsumerMember, turn: Turn) -> None:
        limits, classic = turn.limits, member.classic
        timeout_ms = limits.consumer_session_timeout_ms if classic is None else classic.session_timeout_ms
        self.deadlines.set(Timer(TimerKind.SESSION, member.id), turn.now_ms + timeout_ms)

    def watch_revocation(self, member: ConsumerMember, turn: Turn) -> None:
        """Start the time limit of a revocation. A member that exceeds it holds up others, and is removed."""
        timer = Timer(TimerKind.REVOKE, member.id)
        if member.state is MemberState.UNREVOKED and member.classic is None:
            self.deadlines.set(timer, turn.now_ms + member.rebalance_timeout_ms)
        else:
            self.deadlines.cancel(timer)

    # --- saving --------------------------------------------------------------------------------

    def snapshot(self) -> ConsumerState:
        return ConsumerState(
            epoch=self.epoch,
            target_epoch=self.target_epoch,
            members=tuple(self.members.values()),
            target=dict(self.target),
            seen=dict(self.seen),
        )


def _uncount(counts: Counter[str], names: Iterable[str]) -> None:
    for name in names:
        counts[name] -= 1
        if not counts[name]:
            del counts[name]


def restored_group(group: str, state: ConsumerState, turn: Turn) -> ConsumerGroup:
    """The group as its former coordinator saved it, with a new session for every member."""
    restored = ConsumerGroup(group, state.epoch)
    restored.target_epoch, restored.target, restored.seen = state.target_epoch, dict(state.target), dict(state.seen)
    for member in state.members:
        restored.put(member)
        restored.keep_alive(member, turn)
        restored.watch_revocation(member, turn)
    return restored
