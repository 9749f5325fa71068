"""Share sessions: the partitions that a member reads from this broker, so that its requests need name only changes.

    epoch 0 begins a session, 1, 2, 3 ... go on with it, -1 ends it

A session is a convenience, never a truth: a broker may drop it, and the member begins a new one. The store knows what
the member holds.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lakestream.broker.shares.errors import (
    InvalidShareSessionEpoch,
    ShareSessionLimitReached,
    ShareSessionNotFound,
)
from lakestream.broker.shares.limits import ShareLimits
from lakestream.model.errors import InvalidRequest
from lakestream.model.group import TopicPartition

BEGIN = 0
END = -1
EPOCH_MAX = 2**31 - 1


class SessionKey(NamedTuple):
    group: str
    member: str


@dataclass(slots=True)
class ShareSession:
    next_epoch: int = 1
    used_ms: int = 0
    partitions: dict[TopicPartition, None] = field(default_factory=dict)

    def in_turn(self) -> list[TopicPartition]:
        """The partitions, each time beginning with the one after the last time's first: all get their turn."""
        ordered = list(self.partitions)
        if ordered:
            first = ordered[0]
            del self.partitions[first]
            self.partitions[first] = None
        return ordered


class ShareSessions:
    def __init__(self, limits: ShareLimits) -> None:
        self._limits = limits
        self._sessions: dict[SessionKey, ShareSession] = {}

    def begin(self, key: SessionKey, now_ms: int) -> ShareSession:
        self._sessions.pop(key, None)
        if len(self._sessions) >= self._limits.sessions_max:
            self._make_room(now_ms)
        session = self._sessions[key] = ShareSession(used_ms=now_ms)
        return session

    def go_on(self, key: SessionKey, epoch: int, now_ms: int) -> ShareSession:
        """Raises ShareSessionNotFound, InvalidShareSessionEpoch."""
        session = self._known(key)
        if epoch != session.next_epoch:
            raise InvalidShareSessionEpoch(f"the next epoch of the session is {session.next_epoch}, not {epoch}")
        session.next_epoch = 1 if epoch == EPOCH_MAX else epoch + 1
        session.used_ms = now_ms
        return session

    def end(self, key: SessionKey) -> ShareSession:
        """Raises ShareSessionNotFound."""
        session = self._known(key)
        del self._sessions[key]
        return session

    def change(self, session: ShareSession, *, added: Iterable[TopicPartition], gone: Iterable[TopicPartition]) -> None:
        """Raises InvalidRequest."""
        session.partitions.update(dict.fromkeys(added))
        for each in gone:
            session.partitions.pop(each, None)
        if len(session.partitions) > self._limits.session_partitions_max:
            session.partitions.clear()
            raise InvalidRequest(f"a share session has at most {self._limits.session_partitions_max} partitions")

    def _known(self, key: SessionKey) -> ShareSession:
        session = self._sessions.get(key)
        if session is None:
            raise ShareSessionNotFound("this broker has no such share session: begin a new one with epoch 0")
        return session

    def _make_room(self, now_ms: int) -> None:
        silent_since = now_ms - self._limits.session_idle_ms
        for key in [key for key, session in self._sessions.items() if session.used_ms < silent_since]:
            del self._sessions[key]
        if len(self._sessions) >= self._limits.sessions_max:
            raise ShareSessionLimitReached(f"this broker has {self._limits.sessions_max} share sessions: try later")
