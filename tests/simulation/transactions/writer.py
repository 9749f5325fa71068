"""A process that writes transactions: as a client of transaction version 1 or 2, from its first request to its end.

init -> (batches, perhaps offsets -> commit | abort) over and over, until it is fenced or stopped

It asks again until it is answered, through any broker. A sleep may be longer than its transaction's timeout.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakestream.broker.broker import Broker
from lakestream.broker.groups.offsets import CommitAsk
from lakestream.broker.produce import RawBatch, Stored, TopicKey, stored
from lakestream.model.errors import (
    InvalidRequest,
    LakestreamError,
    NotInTransaction,
    OutOfOrderSequence,
    ProducerFenced,
    StaleProducerEpoch,
    UnknownTransactionalId,
    WrongTransactionState,
)
from lakestream.model.group import CommittedOffset, TopicPartition
from lakestream.model.topic import PartitionId, Topic
from lakestream.model.transaction import ProducerIdentity, TransactionalProducer
from lakestream.storage.records.header import Codec
from tests.simulation.batches import Producer, Sent, make_batch
from tests.simulation.clocks import WorldClock
from tests.simulation.network import Connection, Disconnected
from tests.simulation.site import Site
from tests.simulation.trace import Trace
from tests.simulation.verdict import Verdict

from .account import Account, Written

REQUEST_SECONDS_MAX = 5.0
PAUSE_SECONDS = 0.15
MOVE_CHANCE = 0.05
COMMIT_CHANCE = 0.7
OFFSETS_CHANCE = 0.5
SLEEP_CHANCE = 0.04
SLEEP_SECONDS_MAX = 12.0

OVER = (
    ProducerFenced,
    StaleProducerEpoch,
    UnknownTransactionalId,
    WrongTransactionState,
    NotInTransaction,
)
"""After these a client does not go on: its transaction was ended, or another process has taken over."""

Act = Callable[[Broker], Awaitable[Any]]


def group_of(id: str) -> str:
    return f"group of {id}"


class Over(Exception):
    """The process ends: it was fenced."""


@dataclass(slots=True, kw_only=True)
class Style:
    implicit: bool
    """Transaction version 2: batches add their partitions, and every end raises the epoch."""
    timeout_ms: int
    records_max: int
    batch_seconds: float


@dataclass(slots=True, kw_only=True)
class Writer:
    name: str
    id: str
    style: Style
    topics: tuple[Topic, ...]
    site: Site
    account: Account
    verdict: Verdict
    clock: WorldClock
    trace: Trace
    rng: random.Random
    is_stopping: bool = False
    is_awake: bool = False
    """It does not fall asleep any more."""
    is_over: bool = False
    """It was fenced, or its transaction was ended by others."""
    _identity: ProducerIdentity = field(default=ProducerIdentity(-1, -1))
    _sequences: dict[PartitionId, int] = field(default_factory=dict)
    _connection: Connection | None = None
    _made: int = 0

    async def live(self) -> None:
        try:
            await self._init()
            while not self.is_stopping:
                await self._one_transaction()
                await asyncio.sleep(self.rng.expovariate(1 / self.style.batch_seconds))
        except Over as over:
            self.is_over = True
            self.trace.note("writer over", self.name, str(over))

    async def _one_transaction(self) -> None:
        written = self.account.begun(self.id)
        places = [(topic, number) for topic in self.topics for number in range(len(topic.partitions))]
        for _ in range(self.rng.randint(1, 3)):
            chosen = self.rng.sample(places, self.rng.randint(1, len(places)))
            if not self.style.implicit:
                parts = sorted(topic.partitions[number] for topic, number in chosen)
                await self._add(parts)
            batches = [self._write(written, topic, number) for topic, number in chosen]
            answers = await asyncio.gather(*batches, return_exceptions=True)
            for answer in answers:
                if isinstance(answer, BaseException):
                    raise answer
            await self._perhaps_sleep()
        if self.rng.random() < OFFSETS_CHANCE:
            await self._commit_offset(written)
        committed = self.rng.random() < COMMIT_CHANCE
        written.may_be_seen = committed
        identity = await self._asked(
            lambda broker: broker.transactions.end(self._producer, committed=committed, bump=self.style.implicit)
        )
        written.is_committed = committed
        self.trace.note("transaction committed" if committed else "transaction aborted", self.name, str(written))
        self._go_on_as(identity)

    async def _add(self, partitions: Sequence[PartitionId]) -> None:
        await self._asked(lambda broker: broker.transactions.add_partitions(self._producer, partitions))

    async def _write(self, written: Written, topic: Topic, number: int) -> None:
        partition = topic.partitions[number]
        count = self.rng.randint(1, self.style.records_max)
        values = [f"{written}/{self.name}/{self._made}.{at}".encode() for at in range(count)]
        self._made += 1
        self.account.made(written, values)
        sequence = self._sequences.get(partition, 0)
        self._sequences[partition] = sequence + count
        now_ms = self.clock.wall_ms()
        data = make_batch(
            [Sent(None, value, ()) for value in values],
            [now_ms] * count,
            self.rng.choice([Codec.NONE, Codec.NONE, Codec.LZ4]),
            Producer(*self._identity, sequence),
            transactional=True,
        )
        answer = await self._asked(lambda broker: self._enter(broker, topic, number, data))
        self.account.acked(written, partition, answer.base_offset, values)

    async def _enter(self, broker: Broker, topic: Topic, number: int, data: bytes) -> Stored:
        await broker.directory.find(topic.name)
        taken = broker.producing.produce(
            [RawBatch(TopicKey(topic.name), number, data)], adds_partitions=self.style.implicit
        )
        (outcome,) = taken if isinstance(taken, list) else await taken
        if isinstance(outcome, LakestreamError):
            raise outcome
        return stored(await outcome)

    async def _commit_offset(self, written: Written) -> None:
        place = TopicPartition(self.topics[0].id, 0)
        ask = CommitAsk(group=group_of(self.id), offsets={place: CommittedOffset(written.number)}, in_transaction=True)
        if not self.style.implicit:
            await self._asked(lambda broker: broker.transactions.begin(self._producer))
        written.has_offsets = True
        await self._asked(
            lambda broker: broker.transactions.commit_offsets(self._producer, ask, begins=self.style.implicit)
        )

    # --- asking ----------------------------------------------------------------------------------

    async def _init(self) -> None:
        identity = await self._asked(
            lambda broker: broker.transactions.begin_producer(self.id, self.style.timeout_ms, None)
        )
        self._go_on_as(identity)

    async def _asked(self, act: Act) -> Any:
        """Ask until there is an answer. Raises Over when it says that this process is."""

        async def enter(broker: Broker) -> Awaitable[Any]:
            return act(broker)

        while True:
            try:
                if (connection := self._route()) is not None:
                    return await connection.request(enter, REQUEST_SECONDS_MAX)
            except OVER as over:
                self.trace.events[f"over by {type(over).__name__}"] += 1
                raise Over(repr(over)) from over
            except (OutOfOrderSequence, InvalidRequest) as error:
                self.verdict.breaks("a batch in sequence is taken", self.name, repr(error))
                raise Over(repr(error)) from error
            except (LakestreamError, Disconnected):
                self._connection = None
            await asyncio.sleep(PAUSE_SECONDS * self.rng.uniform(0.5, 1.5))

    def _route(self) -> Connection | None:
        if self._connection is None or not self._connection.is_open or self.rng.random() < MOVE_CHANCE:
            self._connection = self.site.connect(self.rng)
        return self._connection

    async def _perhaps_sleep(self) -> None:
        if not self.is_awake and self.rng.random() < SLEEP_CHANCE:
            self.trace.note("writer sleeps", self.name)
            await asyncio.sleep(self.rng.uniform(0, SLEEP_SECONDS_MAX))

    def _go_on_as(self, identity: ProducerIdentity) -> None:
        if identity != self._identity:
            self._sequences.clear()
        self._identity = identity

    @property
    def _producer(self) -> TransactionalProducer:
        return TransactionalProducer(self.id, *self._identity)
