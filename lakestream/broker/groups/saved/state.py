"""The state that another broker needs to take over a group: frozen values, saved as one piece.

Sessions, waiting requests and pending member ids are not part of it: they start over with a new coordinator, as in
Kafka. state_codec turns the state into bytes.
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
"""A static member announced that it will return. It keeps its partitions until its session ends."""


class ProtocolOffer(NamedTuple):
    """An assignment protocol that a classic member can work with, and the member's metadata in it."""

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
    """A settled generation with everyone's assignment. Without members the group is empty."""

    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    members: tuple[SavedClassicMember, ...] = ()
    occupied: bool = False
    """Members have joined, though none may be in a settled generation yet."""


# --- consumer ----------------------------------------------------------------------------------


class MemberState(IntEnum):
    """A member's progress towards its assignment. Stored, so numbers are never reused."""

    STABLE = 0
    UNREVOKED = 1
    """The member was asked to release partitions and has not confirmed it."""
    UNRELEASED = 2
    """Other members still hold some of its partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicSide:
    """The data of a member that speaks the classic protocol inside a consumer group."""

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
        """Partitions that no other member may be given."""
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


# --- share -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareMember:
    id: str
    rack: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    epoch: int = 0
    previous_epoch: int = 0

    @property
    def subscribed_bytes(self) -> int:
        return sum(map(len, self.topics))

    def at_epoch(self, epoch: int) -> "ShareMember":
        return self if epoch == self.epoch else replace(self, epoch=epoch, previous_epoch=self.epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareGroupState:
    """Who reads which partitions follows from the members and the topics, so it is not part of it."""

    epoch: int = 0
    members: tuple[ShareMember, ...] = ()
    seen: dict[str, SeenTopic] = field(default_factory=dict)
    """By topic name."""


GroupState = ClassicState | ConsumerState | ShareGroupState
