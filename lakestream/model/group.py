"""Consumer groups in the metadata store: the owner, the last settled state, and the offsets."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from lakestream.model.topic import TopicId

NO_GENERATION = -1
"""A commit from outside of any generation: by an administrator, or by a consumer that assigns itself."""

NO_LEADER_EPOCH = -1


class TopicPartition(NamedTuple):
    """A partition as clients name it, but by the topic's id: a recreated topic starts without old offsets."""

    topic: TopicId
    number: int


class CommittedOffset(NamedTuple):
    """Where a group's reader of a partition continues. `leader_epoch` and `metadata` are returned unchanged."""

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingOffsets:
    """Offsets that a group gets when a transaction commits, and by which right they were accepted."""

    group: str
    epoch: int
    """Under which the group's coordinator holds it."""
    generation: int
    """It must still be current. NO_GENERATION: any."""
    offsets: Mapping[TopicPartition, CommittedOffset]


class PartitionLag(NamedTuple):
    """How many records of a partition a group has not read: from its offset to the log's end."""

    group: str
    topic: str
    number: int
    records: int


class GroupKind(IntEnum):
    """The protocol of a group. Stored, so numbers are never reused."""

    CLASSIC = 1
    CONSUMER = 2
    SHARE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupClaim:
    """The result of claiming a group: the epoch of the claim, and the last saved state, if any."""

    epoch: int
    state: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedGroup:
    """The state that a coordinator saves. The store does not read `state`; it uses the other fields."""

    kind: GroupKind
    protocol_type: str
    generation: int
    """Generation or group epoch; never falls while the group lives."""
    empty: bool
    subscribed: frozenset[str] | None
    """Topics that members read; None if only the members know (a protocol other than the consumers')."""
    state: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroup:
    group: str
    kind: GroupKind
    protocol_type: str
    empty: bool
