"""A share group as data: its members, the topics that they read, and who reads which partitions."""

from enum import StrEnum

from lakestream.broker.groups.deadlines import Deadlines
from lakestream.broker.groups.errors import UnknownMember
from lakestream.broker.groups.saved.state import NO_PARTITIONS, Assignment, SeenTopic, ShareGroupState, ShareMember
from lakestream.broker.groups.share.assignor import assign_shared
from lakestream.broker.groups.topics.topics import TopicsImage
from lakestream.broker.groups.turn import Timer, TimerKind, Turn


class SharePhase(StrEnum):
    """Kafka's names, since tools show them."""

    EMPTY = "Empty"
    STABLE = "Stable"


class ShareGroup:
    def __init__(self, group: str, epoch: int = 0) -> None:
        self.group = group
        self.epoch = epoch
        self.members: dict[str, ShareMember] = {}
        self.seen: dict[str, SeenTopic] = {}
        self.deadlines: Deadlines[Timer] = Deadlines()
        self._assigned: dict[str, Assignment] = {}
        self._looked_at_version = -1

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def phase(self) -> SharePhase:
        return SharePhase.STABLE if self.members else SharePhase.EMPTY

    @property
    def subscribed_bytes(self) -> int:
        return sum(member.subscribed_bytes for member in self.members.values())

    def subscribed(self) -> frozenset[str]:
        return frozenset().union(*(member.topics for member in self.members.values()))

    def known_member(self, member_id: str) -> ShareMember:
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMember(f"'{member_id}' is no member of group '{self.group}': join again")
        return member

    def assigned(self, member_id: str) -> Assignment:
        return self._assigned.get(member_id, NO_PARTITIONS)

    # --- changes -------------------------------------------------------------------------------

    def put(self, member: ShareMember) -> None:
        self.members[member.id] = member

    def remove(self, member_id: str) -> None:
        del self.members[member_id]
        self.deadlines.cancel(Timer(TimerKind.SESSION, member_id))

    def look_at_topics(self, topics: TopicsImage, *, changed: bool) -> None:
        """Raise the epoch if members, their subscriptions or a subscribed topic have changed."""
        if not changed and topics.version == self._looked_at_version:
            return
        found = [topics.by_name[name] for name in sorted(self.subscribed()) if name in topics.by_name]
        seen = {topic.name: SeenTopic(topic.id, topic.partitions) for topic in found}
        self._looked_at_version = topics.version
        if changed or seen != self.seen:
            self.seen = seen
            self.epoch += 1
            self.assign()

    def assign(self) -> None:
        topics_of = {
            member.id: frozenset(self.seen[name].id for name in member.topics if name in self.seen)
            for member in self.members.values()
        }
        self._assigned = assign_shared(topics_of, {topic.id: topic.partitions for topic in self.seen.values()})

    def keep_alive(self, member_id: str, turn: Turn) -> None:
        self.deadlines.set(Timer(TimerKind.SESSION, member_id), turn.now_ms + turn.limits.share_session_timeout_ms)

    def snapshot(self) -> ShareGroupState:
        return ShareGroupState(epoch=self.epoch, members=tuple(self.members.values()), seen=dict(self.seen))


def restored_group(group: str, state: ShareGroupState, turn: Turn) -> ShareGroup:
    """The group as its former coordinator saved it, with a new session for every member."""
    restored = ShareGroup(group, state.epoch)
    restored.seen = dict(state.seen)
    for member in state.members:
        restored.put(member)
        restored.keep_alive(member.id, turn)
    restored.assign()
    return restored
