"""What a group must remember to be taken over by another broker: frozen values, saved as one piece.

Sessions, parked requests and handed-out member ids are not here: they begin anew with a new coordinator, as in Kafka.
The bytes are made in state_codec.
"""

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import NamedTuple

from lakestream.model.group import TopicPartition
from lakestream.model.topic import TopicId

Assignment = frozenset[TopicPartition]
NO_PARTITIONS: Assignment = frozenset()

JOINING_EPOCH = 0
LEAVING_EPOCH = -1
STATIC_LEFT_EPOCH = -2
"""A static member that said it will be back: it keeps its partitions until its session ends."""


class ProtocolOffer(NamedTuple):
    """An assignment protocol that a classic member can work with, and what it says of itself in it."""

    name: str
    metadata: bytes


def offered_bytes(offers: tuple[ProtocolOffer, ...]) -> int:
    return sum(len(offer.name) + len(offer.metadata) for offer in offers)


# --- classic -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedClassicMember:
    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    offers: tuple[ProtocolOffer, ...]
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicState:
    """A generation that was settled: everyone's assignment in it. Without members the group is empty."""

    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    members: tuple[SavedClassicMember, ...] = ()
    occupied: bool = False
    """Members have joined, though none may be in a settled generation yet."""


# --- consumer ----------------------------------------------------------------------------------


class MemberState(IntEnum):
    """How far a member is with its assignment. Stored: numbers are never reused."""

    STABLE = 0
    UNREVOKED = 1
    """It was asked to let partitions go and has not said that it did."""
    UNRELEASED = 2
    """Some of its partitions are still held by others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicSide:
    """What is known of a member that speaks the classic protocol inside a consumer group."""

    session_timeout_ms: int
    offers: tuple[ProtocolOffer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    id: str
    instance_id: str | None = None
    rack: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    regex: str = ""
    assignor: str | None = None
    rebalance_timeout_ms: int = -1
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    assigned: Assignment = NO_PARTITIONS
    revoking: Assignment = NO_PARTITIONS
    classic: ClassicSide | None = None

    @property
    def held(self) -> Assignment:
        """Partitions that nobody else may be given."""
        return self.assigned | self.revoking

    @property
    def subscribed_bytes(self) -> int:
        listed = sum(map(len, self.topics)) + len(self.regex)
        return listed if self.classic is None else listed + offered_bytes(self.classic.offers)

    def at_epoch(self, epoch: int) -> "ConsumerMember":
        return self if epoch == self.epoch else replace(self, epoch=epoch, previous_epoch=self.epoch)


class SeenTopic(NamedTuple):
    """A subscribed topic as the last target assignment knew it."""

    id: TopicId
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerState:
    epoch: int = 0
    target_epoch: int = 0
    members: tuple[ConsumerMember, ...] = ()
    target: dict[str, Assignment] = field(default_factory=dict)
    """By member id."""
    seen: dict[str, SeenTopic] = field(default_factory=dict)
    """By topic name."""


GroupState = ClassicState | ConsumerState
