"""A group on the workbench: its machine alone, with time and member ids given by hand."""

from dataclasses import dataclass, field, replace
from typing import TypeVar

from lakestream.broker.groups.asks import (
    ConsumerHeartbeatAnswer,
    ConsumerHeartbeatAsk,
    HeartbeatAsk,
    JoinAsk,
    Joined,
    JoinRefused,
    LeaveAsk,
    Leaver,
    Left,
    MemberClient,
    ParkedAnswer,
    SyncAsk,
    Synced,
    SyncRefused,
)
from lakestream.broker.groups.consumer.heartbeat import check_ask
from lakestream.broker.groups.embedded import _INT16, _INT32
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.machine import GroupMachine, new_machine, restored_machine
from lakestream.broker.groups.saved.state import Assignment, ProtocolOffer
from lakestream.broker.groups.saved.state_codec import StateWriter, decode_state
from lakestream.broker.groups.topics.topics import TopicImage, TopicsImage
from lakestream.broker.groups.turn import Ticket, Turn
from lakestream.model.group import TopicPartition

T = TypeVar("T")
GROUP = "g"


def topic_id(name: str) -> bytes:
    return name.encode().ljust(16, b"\0")


def topics(version: int = 1, **partitions: int) -> TopicsImage:
    return TopicsImage(version, [TopicImage(topic_id(name), name, count) for name, count in partitions.items()])


def partitions(name: str, *numbers: int) -> Assignment:
    return frozenset(TopicPartition(topic_id(name), number) for number in numbers)


def subscription(*names: str, version: int = 1, owned: dict[str, list[int]] | None = None) -> bytes:
    """As a consumer writes it."""
    parts = [_INT16.pack(version), _INT32.pack(len(names))]
    parts += [_INT16.pack(len(name)) + name.encode() for name in names]
    parts.append(_INT32.pack(-1))
    if version >= 1:
        parts.append(_INT32.pack(len(owned or {})))
        for name, numbers in (owned or {}).items():
            parts += [_INT16.pack(len(name)), name.encode(), _INT32.pack(len(numbers))]
            parts += [_INT32.pack(number) for number in numbers]
    if version >= 2:
        parts.append(_INT32.pack(-1))
    if version >= 3:
        parts.append(_INT16.pack(-1))
    return b"".join(parts)


OFFERS = (ProtocolOffer("range", b"r"), ProtocolOffer("roundrobin", b"rr"))


def join_ask(member: str = "", *, fresh: str = "new", **changes: object) -> JoinAsk:
    ask = JoinAsk(
        group=GROUP,
        member_id=member,
        fresh_member_id=fresh,
        instance_id=None,
        client=MemberClient("client", "/127.0.0.1"),
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        offers=OFFERS,
        needs_known_member_id=False,
        can_skip_assignment=False,
    )
    return replace(ask, **changes)  # type: ignore[arg-type]


def consumer_ask(member: str, epoch: int, **changes: object) -> ConsumerHeartbeatAsk:
    joining = epoch == 0
    ask = ConsumerHeartbeatAsk(
        group=GROUP,
        member_id=member,
        member_epoch=epoch,
        instance_id=None,
        rack=None,
        client=MemberClient("client", "/127.0.0.1"),
        rebalance_timeout_ms=60_000 if joining else None,
        topics=frozenset({"orders"}) if joining else None,
        regex=None,
        assignor=None,
        owned=frozenset() if joining else None,
    )
    return replace(ask, **changes)  # type: ignore[arg-type]


@dataclass
class Bench:
    limits: GroupLimits = field(default_factory=GroupLimits)
    topics: TopicsImage = field(default_factory=lambda: topics())
    machine: GroupMachine = field(default_factory=lambda: new_machine(GROUP))
    now_ms: int = 1_000
    tickets: int = 0
    answers: dict[Ticket, ParkedAnswer] = field(default_factory=dict)
    saved: bytes | None = None
    saves: int = 0

    # --- requests ------------------------------------------------------------------------------

    def join(self, member: str = "", **changes: object) -> Ticket:
        self.tickets += 1
        turn = self._turn()
        self.machine.join(join_ask(member, **changes), self.tickets, turn)  # type: ignore[arg-type]
        self._done(turn)
        return self.tickets

    def sync(
        self, member: str, generation: int, assignments: dict[str, bytes] | None = None, **changes: object
    ) -> Ticket:
        self.tickets += 1
        turn = self._turn()
        ask = SyncAsk(
            group=GROUP,
            member_id=member,
            instance_id=None,
            generation=generation,
            protocol_type=None,
            protocol=None,
            assignments=assignments or {},
        )
        self.machine.sync(replace(ask, **changes), self.tickets, turn)  # type: ignore[arg-type]
        self._done(turn)
        return self.tickets

    def heartbeat(self, member: str, generation: int, instance: str | None = None) -> None:
        turn = self._turn()
        ask = HeartbeatAsk(group=GROUP, member_id=member, instance_id=instance, generation=generation)
        self.machine.heartbeat(ask, turn)
        self._done(turn)

    def leave(self, *leavers: tuple[str, str | None]) -> list[Left]:
        turn = self._turn()
        left = self.machine.leave(LeaveAsk(group=GROUP, leavers=[Leaver(*leaver) for leaver in leavers]), turn)
        self._done(turn)
        return left

    def consumer(self, member: str, epoch: int, **changes: object) -> ConsumerHeartbeatAnswer:
        ask = consumer_ask(member, epoch, **{"topics": None, **changes})
        check_ask(ask, self.limits)
        turn = self._turn()
        answer = self.machine.consumer_heartbeat(ask, turn)
        self._done(turn)
        return answer

    def pass_ms(self, ms: int) -> None:
        """Let time go by, deadline after deadline."""
        until = self.now_ms + ms
        while (at_ms := self.machine.next_deadline()) is not None and at_ms <= until:
            self.now_ms = max(self.now_ms, at_ms)
            turn = self._turn()
            self.machine.tick(turn)
            self._done(turn)
        self.now_ms = until

    def take_over(self) -> None:
        """Another coordinator goes on from what was saved."""
        assert self.saved is not None
        turn = self._turn()
        self.machine = restored_machine(GROUP, decode_state(self.saved), turn)
        self._done(turn)

    # --- what came of them ---------------------------------------------------------------------

    def joined(self, ticket: Ticket) -> Joined:
        answer = self.answers[ticket]
        assert isinstance(answer, Joined), answer
        return answer

    def refused(self, ticket: Ticket) -> JoinRefused:
        answer = self.answers[ticket]
        assert isinstance(answer, JoinRefused), answer
        return answer

    def synced(self, ticket: Ticket) -> bytes:
        answer = self.answers[ticket]
        assert isinstance(answer, Synced), answer
        return answer.assignment

    def sync_error(self, ticket: Ticket) -> type[Exception]:
        answer = self.answers[ticket]
        assert isinstance(answer, SyncRefused), answer
        return type(answer.error)

    @property
    def phase(self) -> str:
        return str(self.machine.group.phase)

    def _turn(self) -> Turn:
        return Turn(now_ms=self.now_ms, limits=self.limits, topics=self.topics)

    def _done(self, turn: Turn) -> None:
        for ticket, answer in turn.answers:
            assert ticket not in self.answers, "a request was answered twice"
            self.answers[ticket] = answer
        if turn.persist:
            self.saved = StateWriter().encode(self.machine.snapshot())
            self.saves += 1


def stable_pair(bench: Bench, **changes: object) -> int:
    """Members "a" (leader) and "b" in a settled generation; returns it."""
    first = bench.join(fresh="a", **changes)
    second = bench.join(fresh="b", **changes)
    bench.pass_ms(10_000)
    generation = bench.joined(first).generation
    assert bench.joined(second).generation == generation
    bench.sync("b", generation)
    bench.sync("a", generation, {"a": b"for a", "b": b"for b"})
    assert bench.phase == "Stable"
    return generation
