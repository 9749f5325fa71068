"""States and offsets that tests of the group store save."""

from lakestream.model.group import CommittedOffset, GroupKind, SavedGroup, TopicPartition
from lakestream.model.topic import Topic


def saved(
    *, generation: int = 1, empty: bool = False, subscribed: frozenset[str] | None = frozenset(), state: bytes = b"\0s"
) -> SavedGroup:
    return SavedGroup(
        kind=GroupKind.CLASSIC,
        protocol_type="consumer",
        generation=generation,
        empty=empty,
        subscribed=subscribed,
        state=state,
    )


def at(topic: Topic, **offsets: int) -> dict[TopicPartition, CommittedOffset]:
    """at(topic, p0=5, p2=7)"""
    return {TopicPartition(topic.id, int(name[1:])): CommittedOffset(offset) for name, offset in offsets.items()}
