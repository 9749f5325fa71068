"""A reader of committed records: through any broker, filtering as Kafka's clients do.

batches, aborted transactions among them -> those of aborted ones are passed over until their marker comes
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from lakestream.broker.broker import Broker
from lakestream.broker.fetch import FetchAsk, Fetched, FetchLimits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError, OffsetOutOfRange
from lakestream.model.topic import PartitionId, Topic
from tests.simulation.batches import rows_of, served_batches
from tests.simulation.network import Connection, Disconnected
from tests.simulation.site import Site
from tests.simulation.trace import Trace
from tests.simulation.verdict import Verdict

from .account import Account, Place

REQUEST_SECONDS_MAX = 12.0
PAUSE_SECONDS = 0.1


class Reader:
    def __init__(
        self,
        name: str,
        topic: Topic,
        *,
        site: Site,
        store: MetadataStore,
        account: Account,
        verdict: Verdict,
        trace: Trace,
        rng: random.Random,
        only: int | None = None,
    ) -> None:
        """`only`: it asks this broker alone."""
        self.name = name
        self.topic = topic
        self.seen: dict[Place, bytes] = {}
        self.began_at: dict[PartitionId, int] = {}
        self.positions: dict[PartitionId, int] = {}
        self._site = site
        self._store = store
        self._account = account
        self._verdict = verdict
        self._trace = trace
        self._rng = rng
        self._only = only
        self._connection: Connection | None = None

    async def run(self) -> None:
        for partition in self.topic.partitions:
            await self._reset(partition)
        while True:
            await self._fetch_once()

    async def is_at_the_end(self) -> bool:
        sizes = await self._store.tails(self.topic.partitions)
        return {partition: size.tail.last_stable for partition, size in sizes.items()} == self.positions

    async def _fetch_once(self) -> None:
        rng = self._rng
        asks = [
            FetchAsk(partition=partition, offset=offset, bytes_max=rng.choice([1, 500, 100_000]), committed=True)
            for partition, offset in self.positions.items()
        ]
        limits = FetchLimits(bytes_min=1, bytes_max=rng.choice([500, 1_000_000]), wait_seconds=rng.random())
        try:
            if (connection := self._route()) is None:
                raise Disconnected
            fetched = await connection.request(self._enter(asks, limits), REQUEST_SECONDS_MAX)
        except (Disconnected, LakestreamError):
            await asyncio.sleep(PAUSE_SECONDS)
            return
        for ask, answer in zip(asks, fetched, strict=True):
            await self._take(ask, answer)

    def _enter(self, asks: Sequence[FetchAsk], limits: FetchLimits) -> Callable[[Broker], Awaitable[Awaitable[Any]]]:
        async def enter(broker: Broker) -> Awaitable[list[Fetched]]:
            await broker.directory.find(self.topic.name)
            return broker.fetching.fetch(asks, limits)

        return enter

    def _route(self) -> Connection | None:
        if self._connection is None or not self._connection.is_open or self._rng.random() < 0.05:
            if self._only is None:
                self._connection = self._site.connect(self._rng)
            elif (running := self._site.running.get(self._only)) is not None:
                self._connection = self._site.connect_to(running, self._rng)
        return self._connection

    async def _take(self, ask: FetchAsk, answer: Fetched) -> None:
        if isinstance(answer.error, OffsetOutOfRange):
            await self._reset(ask.partition)
        if answer.error is not None:
            await asyncio.sleep(PAUSE_SECONDS)
            return
        position = ask.offset
        waiting = sorted(answer.aborted, key=lambda each: each.first_offset)
        aborted: set[int] = set()
        for batch in served_batches(b"".join(answer.run.parts)):
            header = batch.header
            while waiting and waiting[0].first_offset <= batch.last_offset:
                aborted.add(waiting.pop(0).producer_id)
            # Where records of a table are missing, they were aborted: `Account.whole` looks whether they were.
            self._verdict.holds(position <= batch.last_offset, "a reader goes on", self.name, position, header)
            position = batch.last_offset + 1
            if header.is_control:
                aborted.discard(header.producer_id)
            elif header.is_transactional and header.producer_id in aborted:
                self._trace.events["aborted batch passed over"] += 1
            else:
                self._note(ask, batch)
        self.positions[ask.partition] = position

    def _note(self, ask: FetchAsk, batch: Any) -> None:
        for row in rows_of(batch):
            if row.offset >= ask.offset:
                place = Place(ask.partition, row.offset)
                self._verdict.holds(place not in self.seen, "no record is read twice", self.name, place)
                self.seen[place] = row.sent.value
                self._account.seen(self.name, place, row.sent.value)

    async def _reset(self, partition: PartitionId) -> None:
        start = (await self._store.tails([partition]))[partition].tail.log_start
        self.positions[partition] = self.began_at[partition] = start
        for place in [place for place in self.seen if place.partition == partition]:
            del self.seen[place]
