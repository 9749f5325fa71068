"""Consumer groups as the metadata store knows them: who owns one, what it last settled on, and its offsets."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from lakestream.model.topic import TopicId

NO_GENERATION = -1
"""A commit by someone who is in no generation: an administrator, or a consumer that assigns itself."""

NO_LEADER_EPOCH = -1


class TopicPartition(NamedTuple):
    """A partition as clients name it. The topic's id, not its name: a topic made anew starts without old offsets."""

    topic: TopicId
    number: int


class CommittedOffset(NamedTuple):
    """Where a group's reader of a partition goes on. `leader_epoch` and `metadata` come back as they were given."""

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""


class PartitionLag(NamedTuple):
    """How many records of a partition a group has not read: from its offset to the log's end."""

    group: str
    topic: str
    number: int
    records: int


class GroupKind(IntEnum):
    """Which protocol a group speaks. Stored: numbers are never reused."""

    CLASSIC = 1
    CONSUMER = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupClaim:
    """What a broker is given with a group: the epoch it owns it under, and the state last saved, if any was."""

    epoch: int
    state: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedGroup:
    """What a coordinator saves. `state` is opaque to the store; the rest is what the store itself decides by."""

    kind: GroupKind
    protocol_type: str
    generation: int
    """Generation or group epoch; never falls while the group lives."""
    empty: bool
    subscribed: frozenset[str] | None
    """Topics that members read; None where only the members know (a protocol that is not the consumers')."""
    state: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroup:
    group: str
    kind: GroupKind
    protocol_type: str
    empty: bool
