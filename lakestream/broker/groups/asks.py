"""Requests of group members and the answers to them, as values independent of any wire format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.broker.groups.saved.state import Assignment, ProtocolOffer
from lakestream.model.errors import LakestreamError

UNKNOWN_MEMBER_ID = ""
CONSUMER_PROTOCOL = "consumer"
"""The protocol type of consumers, whose metadata a broker can read."""
SHARE_PROTOCOL = "share"


class MemberClient(NamedTuple):
    """The client at the other end of the connection."""

    id: str
    host: str


# --- classic -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinAsk:
    group: str
    member_id: str
    fresh_member_id: str
    """The id for a member that has none yet."""
    instance_id: str | None
    client: MemberClient
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    offers: tuple[ProtocolOffer, ...]
    needs_known_member_id: bool
    """JoinGroup 4 and above: a dynamic member joins in two steps, so that lost answers leave no ghosts."""
    can_skip_assignment: bool
    """JoinGroup 9 and above."""


class JoinedMember(NamedTuple):
    """The leader's view of one member."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    member_id: str
    generation: int
    protocol_type: str | None
    protocol: str | None
    leader: str
    members: tuple[JoinedMember, ...] = ()
    skip_assignment: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRefused:
    """`member_id` goes into the answer together with the error. With MemberIdRequired it is the id to join with."""

    error: LakestreamError
    member_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncAsk:
    group: str
    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None
    protocol: str | None
    assignments: Mapping[str, bytes]
    """By member id. Only the leader's assignments count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    protocol_type: str | None
    protocol: str | None
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRefused:
    error: LakestreamError


ParkedAnswer = Joined | JoinRefused | Synced | SyncRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatAsk:
    group: str
    member_id: str
    instance_id: str | None
    generation: int


class Leaver(NamedTuple):
    """With an instance id and no member id: an administrator removes a static member."""

    member_id: str
    instance_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveAsk:
    group: str
    leavers: Sequence[Leaver]


class Left(NamedTuple):
    leaver: Leaver
    error: LakestreamError | None


# --- consumer (KIP-848) ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerHeartbeatAsk:
    """None means unchanged since the last heartbeat. An empty `regex` ends a subscription by expression."""

    group: str
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack: str | None
    client: MemberClient
    rebalance_timeout_ms: int | None
    topics: frozenset[str] | None
    regex: str | None
    assignor: str | None
    owned: Assignment | None
    member_id_required: bool = True
    """ConsumerGroupHeartbeat 1 and above: clients make their own member ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerHeartbeatAnswer:
    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: Assignment | None
    """None: unchanged since the last answer."""


# --- share (KIP-932) ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareHeartbeatAsk:
    """None means unchanged since the last heartbeat."""

    group: str
    member_id: str
    member_epoch: int
    rack: str | None
    client: MemberClient
    topics: frozenset[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareHeartbeatAnswer:
    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: Assignment | None
    """None: unchanged since the last answer."""
