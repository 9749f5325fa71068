"""Producers as Kafka's clients are: up to five batches in flight, sent again with the same sequence until they are in.

    make -> send (now and then through another broker) -> acked | refused | unknown -> send again

Java's client sends retries one by one; librdkafka sends all of them again, in order. Both are here.
A stream is one producer's batches for one partition.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lakestream.broker.broker import Broker
from lakestream.broker.produce import Outcome, RawBatch, Stored, TopicKey, stored
from lakestream.model.errors import (
    DuplicateSequence,
    LakestreamError,
    OutOfOrderSequence,
    SegmentAbandoned,
    StaleProducerEpoch,
    UnknownProducer,
)
from lakestream.storage.records.errors import BadBatch
from lakestream.storage.records.header import Codec
from lakestream.world.tasks import Tasks

from .batches import NOBODY, Producer, Sent, make_batch
from .clocks import WorldClock
from .ledger import Ledger, Made
from .network import Connection, Disconnected
from .site import Site
from .trace import Trace
from .values import bytes_value, json_value
from .verdict import Verdict

IN_FLIGHT_MAX = 5
REQUEST_SECONDS_MAX = 8.0
RETRY_SECONDS = 0.1
LOOK_SECONDS = 0.15
"""How often a stream looks whether a retry is due; answers wake it at once."""


class Style(Enum):
    JAVA = "java"
    LIBRDKAFKA = "librdkafka"


@dataclass(slots=True, kw_only=True)
class Unacked:
    made: Made
    records: list[Sent]
    codec: Codec
    sequence: int
    data: bytes
    is_in_flight: bool = False
    was_sent: bool = False
    was_first: bool = False
    """When it was last sent, all before it had been acknowledged."""
    may_be_stored: bool = False
    retry_at: float = 0.0


class Stream:
    def __init__(
        self,
        *,
        name: str,
        topic: str,
        index: int,
        producer_id: int | None,
        style: Style,
        makes_json: bool,
        site: Site,
        ledger: Ledger,
        verdict: Verdict,
        clock: WorldClock,
        trace: Trace,
        tasks: Tasks,
        end_of: Callable[[int], Awaitable[int | None]],
        rng: random.Random,
    ) -> None:
        self.name = name
        self.is_stopping = False
        self.unacked: list[Unacked] = []
        self._topic = topic
        self._index = index
        self._producer_id = producer_id
        self._style = style
        self._makes_json = makes_json
        self._site = site
        self._ledger = ledger
        self._verdict = verdict
        self._clock = clock
        self._trace = trace
        self._tasks = tasks
        self._end_of = end_of
        self._rng = rng
        self._connection: Connection | None = None
        self._made = 0
        self._epoch = 0
        self._next_sequence = 0
        self._home: int | None = None
        """The partition that holds the last batch acked under this epoch: it must know the next one."""
        self._news = asyncio.Event()

    async def run(self, batch_seconds: float, records_max: int, value_bytes_max: int, move_chance: float) -> None:
        make_at = self._clock.monotonic()
        while not self.is_stopping or self.unacked:
            now = self._clock.monotonic()
            if now >= make_at and not self.is_stopping and self._has_room():
                self._make(self._rng.randint(1, records_max), value_bytes_max)
                make_at = now + self._rng.expovariate(1 / batch_seconds)
            self._send_what_may_go(now, move_chance if not self.is_stopping else 0.0)
            wait = make_at - now
            await self._wait(wait if 0 < wait < LOOK_SECONDS else LOOK_SECONDS)

    # --- making ----------------------------------------------------------------------------------

    def _has_room(self) -> bool:
        """The store knows a producer's last five batches: more than those are never under way."""
        return not self.unacked or self._made - self.unacked[0].made.number < IN_FLIGHT_MAX

    def _make(self, count: int, value_bytes_max: int) -> None:
        number, self._made = self._made, self._made + 1
        now_ms = self._clock.wall_ms()
        timestamps = tuple(now_ms - self._rng.choice([0, 0, 0, self._rng.randint(0, 20_000)]) for _ in range(count))
        records = [self._record(number, position, value_bytes_max) for position in range(count)]
        made = Made(
            stream=self.name,
            number=number,
            topic=self._topic,
            index=self._index,
            timestamps=timestamps,
            is_idempotent=self._producer_id is not None,
        )
        codec = self._rng.choice([Codec.NONE, Codec.NONE, Codec.ZSTD, Codec.LZ4])
        unacked = Unacked(made=made, records=records, codec=codec, sequence=0, data=b"")
        self._number(unacked)
        self.unacked.append(unacked)

    def _record(self, number: int, position: int, value_bytes_max: int) -> Sent:
        name = f"{self.name}#{number}.{position}"
        if self._makes_json:
            value = json_value(name, number, self._rng, value_bytes_max)
        else:
            value = bytes_value(name, self._rng, value_bytes_max)
        key = self._rng.choice([None, b"", self.name.encode()])
        return Sent(key, value, self._rng.choice([(), (("h", b"1"), ("h", None))]))

    def _number(self, unacked: Unacked) -> None:
        """Give the batch its place in the sequence; its bytes then are what every attempt sends."""
        producer = NOBODY
        if self._producer_id is not None:
            unacked.sequence = self._next_sequence
            self._next_sequence += len(unacked.records)
            producer = Producer(self._producer_id, self._epoch, unacked.sequence)
        unacked.data = make_batch(unacked.records, unacked.made.timestamps, unacked.codec, producer)
        self._ledger.made(unacked.data, unacked.made, unacked.records)

    # --- sending ---------------------------------------------------------------------------------

    def _send_what_may_go(self, now: float, move_chance: float) -> None:
        in_flight = sum(unacked.is_in_flight for unacked in self.unacked)
        for position, unacked in enumerate(self.unacked):
            if unacked.is_in_flight:
                continue
            waits = unacked.retry_at > now or (unacked.was_sent and position > 0 and self._style is Style.JAVA)
            if in_flight >= IN_FLIGHT_MAX or (waits and unacked.made.is_idempotent):
                return
            if waits:
                continue
            in_flight += 1
            unacked.is_in_flight = unacked.was_sent = True
            unacked.was_first = position == 0
            self._tasks.spawn(self._send(unacked, self._epoch, self._route(move_chance)), name=str(unacked.made))

    def _route(self, move_chance: float) -> Connection | None:
        if self._connection is None or not self._connection.is_open or self._rng.random() < move_chance:
            self._connection = self._site.connect(self._rng)
        return self._connection

    async def _send(self, unacked: Unacked, epoch: int, connection: Connection | None) -> None:
        outcome: Any
        partition = None
        try:
            if connection is None:
                raise Disconnected
            partition, outcome = await connection.request(self._enter(unacked.data), REQUEST_SECONDS_MAX)
        except (LakestreamError, Disconnected) as error:
            outcome = error
        self._trace.note("answer", unacked.made, partition, outcome if isinstance(outcome, Stored) else repr(outcome))
        if epoch == self._epoch:
            unacked.is_in_flight = False
            await self._learn(unacked, partition, outcome)
        self._news.set()

    def _enter(self, data: bytes) -> Callable[[Broker], Awaitable[Awaitable[Any]]]:
        async def enter(broker: Broker) -> Awaitable[Any]:
            entry = await broker.directory.find(self._topic)
            partition = entry.partition(self._index)
            taken = broker.producing.produce([RawBatch(TopicKey(self._topic), self._index, data)])
            (outcome,) = taken if isinstance(taken, list) else await taken
            return _answer(partition, outcome)

        return enter

    # --- learning what became of it --------------------------------------------------------------

    async def _learn(self, unacked: Unacked, partition: int | None, outcome: Any) -> None:
        if isinstance(outcome, Stored):
            assert partition is not None
            self._home = partition
            self.unacked.remove(unacked)
            end = await self._end_of(partition)
            self._ledger.acked(partition, outcome.base_offset, outcome.append_ms, unacked.made, end)
            return
        unacked.retry_at = self._clock.monotonic() + RETRY_SECONDS * self._rng.uniform(0.5, 1.5)
        match outcome:
            case BadBatch() | StaleProducerEpoch() | DuplicateSequence():
                self._verdict.breaks("a good batch is taken", unacked.made, repr(outcome))
                self.unacked.remove(unacked)
            case OutOfOrderSequence() | UnknownProducer():
                self._out_of_sequence(unacked, partition, outcome)
            case SegmentAbandoned():
                self._perhaps_give_up(unacked)
            case _:
                unacked.may_be_stored = True
                self._perhaps_give_up(unacked)

    def _out_of_sequence(self, unacked: Unacked, partition: int | None, outcome: LakestreamError) -> None:
        if not unacked.was_first:
            return  # an earlier one had to go first; now or later this one will fit
        lost = unacked.sequence > 0 and partition != self._home
        self._verdict.holds(
            lost, "a batch in sequence is taken", unacked.made, unacked.sequence, partition, repr(outcome)
        )
        self._start_anew()

    def _start_anew(self) -> None:
        """The partition has forgotten this producer (its topic was made anew): raise the epoch, count from 0."""
        self._trace.note("epoch", self.name, self._epoch + 1)
        self._epoch, self._next_sequence, self._home = self._epoch + 1, 0, None
        for unacked in self.unacked:
            unacked.is_in_flight = False
            self._number(unacked)

    def _perhaps_give_up(self, unacked: Unacked) -> None:
        """A plain producer may forget about a batch; one that was only ever refused must not appear."""
        if unacked.made.is_idempotent or self._rng.random() < 0.7:
            return
        self.unacked.remove(unacked)
        if not unacked.may_be_stored:
            self._ledger.refused(unacked.made)

    async def _wait(self, seconds: float) -> None:
        timer = asyncio.get_running_loop().call_later(seconds, self._news.set)
        await self._news.wait()
        timer.cancel()
        self._news.clear()


async def _answer(partition: int, outcome: Outcome) -> tuple[int, Stored | LakestreamError]:
    try:
        return partition, outcome if isinstance(outcome, LakestreamError) else stored(await outcome)
    except LakestreamError as error:
        return partition, error
