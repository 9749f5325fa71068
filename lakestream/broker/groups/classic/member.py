"""A member of a classic group: the values it joined with, and its waiting requests."""

from dataclasses import dataclass

from lakestream.broker.groups.asks import JoinAsk, JoinedMember
from lakestream.broker.groups.saved.state import ProtocolOffer, SavedClassicMember
from lakestream.broker.groups.turn import Ticket


@dataclass(slots=True, kw_only=True)
class ClassicMember:
    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    offers: tuple[ProtocolOffer, ...]
    assignment: bytes = b""
    join_ticket: Ticket | None = None
    sync_ticket: Ticket | None = None
    is_new: bool = False
    """No finished join has told the member its id. It cannot heartbeat, so it may expire while it waits."""

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def waits(self) -> bool:
        return self.join_ticket is not None or self.sync_ticket is not None

    def metadata(self, protocol: str | None) -> bytes:
        """The member's own metadata for `protocol`."""
        return next((offer.metadata for offer in self.offers if offer.name == protocol), b"")

    def vote(self, candidates: frozenset[str]) -> str:
        """The member's first choice among the protocols that all members know."""
        return next(offer.name for offer in self.offers if offer.name in candidates)

    def told_to_leader(self, protocol: str | None) -> JoinedMember:
        return JoinedMember(self.id, self.instance_id, self.metadata(protocol))

    def saved(self) -> SavedClassicMember:
        return SavedClassicMember(
            id=self.id,
            instance_id=self.instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            offers=self.offers,
            assignment=self.assignment,
        )


def new_member(member_id: str, ask: JoinAsk) -> ClassicMember:
    return ClassicMember(
        id=member_id,
        instance_id=ask.instance_id,
        client_id=ask.client.id,
        client_host=ask.client.host,
        session_timeout_ms=ask.session_timeout_ms,
        rebalance_timeout_ms=ask.rebalance_timeout_ms,
        offers=ask.offers,
        is_new=True,
    )


def restored_member(saved: SavedClassicMember) -> ClassicMember:
    return ClassicMember(
        id=saved.id,
        instance_id=saved.instance_id,
        client_id=saved.client_id,
        client_host=saved.client_host,
        session_timeout_ms=saved.session_timeout_ms,
        rebalance_timeout_ms=saved.rebalance_timeout_ms,
        offers=saved.offers,
        assignment=saved.assignment,
    )
