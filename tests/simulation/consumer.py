"""A consumer that follows a topic from some offset on, through any broker, and believes nothing.

Every batch must begin where the last one ended, hold what was produced, and be the same whoever reads it.
A refusal must be true: 'out of range' only where records were deleted, 'unknown' only where a topic was.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from lakestream.broker.broker import Broker
from lakestream.broker.fetch import FetchAsk, Fetched, FetchLimits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError, OffsetOutOfRange, SegmentLost, UnknownPartition, UnknownTopicId
from lakestream.model.topic import PartitionId, Topic

from .batches import Served, served_batches
from .ledger import Ledger, Read
from .network import Connection, Disconnected
from .site import Site
from .trace import Trace
from .verdict import Verdict

REQUEST_SECONDS_MAX = 12.0
PAUSE_SECONDS = 0.1
BYTES_MIN = [0, *[1] * 15, *[2_000] * 4]
"""Mostly a long poll for anything; now and then for much, or not at all."""


class Follower:
    """Follows all partitions that the topic had when it began."""

    def __init__(
        self,
        name: str,
        topic: Topic,
        *,
        site: Site,
        store: MetadataStore,
        ledger: Ledger,
        verdict: Verdict,
        trace: Trace,
        rng: random.Random,
        may_be_tabled: bool,
    ) -> None:
        self.name = name
        self.topic = topic
        self.positions: dict[PartitionId, int] = {}
        self.reads: dict[PartitionId, list[Read]] = {partition: [] for partition in topic.partitions}
        self.is_over = False
        """Its topic is gone."""
        self._site = site
        self._store = store
        self._ledger = ledger
        self._verdict = verdict
        self._trace = trace
        self._rng = rng
        self._may_be_tabled = may_be_tabled
        self._connection: Connection | None = None
        self._was_reset: set[PartitionId] = set()

    async def run(self) -> None:
        for partition in self.topic.partitions:
            await self._reset(partition)
        while not self.is_over:
            await self._fetch_once()

    async def is_at_the_end(self) -> bool:
        sizes = await self._store.tails(self.topic.partitions)
        ends = {partition: size.tail.next_offset for partition, size in sizes.items()}
        return self.is_over or ends == self.positions

    # --- asking ----------------------------------------------------------------------------------

    async def _fetch_once(self) -> None:
        rng = self._rng
        asks = [
            FetchAsk(partition=partition, offset=offset, bytes_max=rng.choice([1, 500, 100_000]))
            for partition, offset in self.positions.items()
        ]
        limits = FetchLimits(
            bytes_min=rng.choice(BYTES_MIN), bytes_max=rng.choice([500, 1_000_000]), wait_seconds=rng.random()
        )
        try:
            fetched = await self._route().request(self._enter(asks, limits), REQUEST_SECONDS_MAX)
        except (Disconnected, LakestreamError) as error:
            await self._refused(error)
            return
        for ask, answer in zip(asks, fetched, strict=True):
            await self._take(ask, answer)

    def _enter(self, asks: Sequence[FetchAsk], limits: FetchLimits) -> Callable[[Broker], Awaitable[Awaitable[Any]]]:
        async def enter(broker: Broker) -> Awaitable[list[Fetched]]:
            await broker.directory.find(self.topic.name)
            return broker.fetching.fetch(asks, limits)

        return enter

    def _route(self) -> Connection:
        if self._connection is None or not self._connection.is_open or self._rng.random() < 0.05:
            self._connection = self._site.connect(self._rng)
        if self._connection is None:
            raise Disconnected
        return self._connection

    async def _refused(self, error: Exception) -> None:
        if isinstance(error, UnknownTopicId):
            self._verdict.holds(not await self._exists(), "only what is gone is unknown", self.topic.name, error)
            self.is_over = True
        await asyncio.sleep(PAUSE_SECONDS)

    # --- judging the answer ----------------------------------------------------------------------

    async def _take(self, ask: FetchAsk, answer: Fetched) -> None:
        if answer.error is not None:
            await self._judge_error(ask, answer.error)
            return
        position = ask.offset
        for batch in served_batches(b"".join(answer.run.parts)):
            self._take_batch(ask.partition, position, batch)
            position = batch.last_offset + 1
        assert answer.tail is not None
        self._verdict.holds(
            position <= answer.tail.next_offset, "records lie below the end", self.name, ask, answer.tail
        )
        if position != ask.offset:
            self._verdict.holds(
                answer.run.next_offset == position, "a run ends where it says", ask, answer.run.next_offset
            )
            self._trace.note("read", self.name, ask.partition, ask.offset, position)
        self.positions[ask.partition] = position

    def _take_batch(self, partition: PartitionId, position: int, batch: Served) -> None:
        base = batch.header.base_offset
        if partition in self._was_reset or self._may_be_tabled:
            self._was_reset.discard(partition)
            follows = base <= position <= batch.last_offset  # batches made from a table's rows begin where they like
        else:
            follows = base == position
        self._verdict.holds(
            follows, "a consumer sees no gap and nothing twice", self.name, partition, "wants", position, "got", base
        )
        reads = self._ledger.seen(partition, self.topic.name, self.topic.partitions.index(partition), batch)
        self.reads[partition] += [read for read in reads if read.offset >= position]

    async def _judge_error(self, ask: FetchAsk, error: LakestreamError) -> None:
        self._trace.note("read refused", self.name, ask.partition, ask.offset, repr(error))
        size = (await self._store.tails([ask.partition])).get(ask.partition)
        match error:
            case OffsetOutOfRange() | SegmentLost():
                gone = size is None or ask.offset < size.tail.log_start
                self._verdict.holds(gone, "only what is gone is out of range", self.name, ask, size, repr(error))
                await self._reset(ask.partition)
            case UnknownPartition():
                self._verdict.holds(size is None, "only what is gone is unknown", self.name, ask, size)
                self.is_over = True
        await asyncio.sleep(PAUSE_SECONDS)

    async def _reset(self, partition: PartitionId) -> None:
        size = (await self._store.tails([partition])).get(partition)
        if size is None:
            self.is_over = True
            return
        self.positions[partition] = size.tail.log_start
        self._was_reset.add(partition)

    async def _exists(self) -> bool:
        return any(topic.id == self.topic.id for topic in (await self._store.topics()).topics)
