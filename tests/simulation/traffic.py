"""The traffic of a run: producers with a stream for every partition, consumers that follow every topic."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from lakestream.broker.broker import Broker
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.value_configs import VALUE_FORMAT
from lakestream.model.errors import LakestreamError
from lakestream.world.tasks import Tasks

from .clocks import WorldClock
from .consumer import Follower
from .ledger import Ledger
from .network import Disconnected
from .producer import Stream, Style
from .scenario import Scenario
from .site import Site
from .trace import Trace
from .verdict import Verdict

REQUEST_SECONDS_MAX = 5.0
PAUSE_SECONDS = 0.2


class Traffic:
    def __init__(
        self,
        scenario: Scenario,
        *,
        site: Site,
        store: MetadataStore,
        ledger: Ledger,
        verdict: Verdict,
        clock: WorldClock,
        trace: Trace,
        tasks: Tasks,
        rng: Callable[[str], random.Random],
    ) -> None:
        self._scenario = scenario
        self._site = site
        self._store = store
        self._ledger = ledger
        self._verdict = verdict
        self._clock = clock
        self._trace = trace
        self._tasks = tasks
        self._rng = rng
        self._streams: list[Stream] = []
        self._followers: list[Follower] = []
        self._ids: set[int] = set()
        self._is_stopping = False

    # --- producers -------------------------------------------------------------------------------

    def start_producers(self) -> None:
        scenario = self._scenario
        for number in range(scenario.idempotent_producers + scenario.plain_producers):
            is_idempotent = number < scenario.idempotent_producers
            self._tasks.spawn(self._start_producer(f"p{number}", is_idempotent), name=f"p{number}")

    def stop_producers(self) -> None:
        self._is_stopping = True
        for stream in self._streams:
            stream.is_stopping = True

    async def all_is_in(self) -> bool:
        return not any(stream.unacked for stream in self._streams)

    async def _start_producer(self, name: str, is_idempotent: bool) -> None:
        rng = self._rng(name)
        producer_id = await self._new_producer_id(rng) if is_idempotent else None
        for topic in self._scenario.topics:
            for index in range(self._scenario.partitions):
                self._start_stream(f"{name}/{topic}/{index}", topic, index, producer_id, rng.choice(list(Style)))

    async def _new_producer_id(self, rng: random.Random) -> int:
        async def enter(broker: Broker) -> Awaitable[int]:
            return broker.producer_ids.next()

        while True:
            if (connection := self._site.connect(rng)) is not None:
                try:
                    producer_id: int = await connection.request(enter, REQUEST_SECONDS_MAX)
                except (LakestreamError, Disconnected):
                    pass
                else:
                    self._verdict.holds(producer_id not in self._ids, "producer ids are given once", producer_id)
                    self._ids.add(producer_id)
                    return producer_id
            await asyncio.sleep(PAUSE_SECONDS)

    def _start_stream(self, name: str, topic: str, index: int, producer_id: int | None, style: Style) -> None:
        scenario = self._scenario
        stream = Stream(
            name=name,
            topic=topic,
            index=index,
            producer_id=producer_id,
            style=style,
            makes_json=scenario.topics[topic].get(VALUE_FORMAT) == "json",
            site=self._site,
            ledger=self._ledger,
            verdict=self._verdict,
            clock=self._clock,
            trace=self._trace,
            tasks=self._tasks,
            end_of=self._end_of,
            rng=self._rng(name),
        )
        stream.is_stopping = self._is_stopping
        self._streams.append(stream)
        batches = stream.run(
            scenario.batch_seconds, scenario.records_max, scenario.value_bytes_max, scenario.move_chance
        )
        self._tasks.spawn(batches, name=name)

    async def _end_of(self, partition: int) -> int | None:
        size = (await self._store.tails([partition])).get(partition)
        return None if size is None else size.tail.next_offset

    # --- consumers -------------------------------------------------------------------------------

    async def start_followers(self, count: int) -> None:
        """So many for every topic there is now, from its start."""
        for topic in (await self._store.topics()).topics:
            for _ in range(count):
                name = f"c{len(self._followers)}"
                follower = Follower(
                    name,
                    topic,
                    site=self._site,
                    store=self._store,
                    ledger=self._ledger,
                    verdict=self._verdict,
                    trace=self._trace,
                    rng=self._rng(name),
                    may_be_tabled=self._scenario.tabling is not None,
                )
                self._followers.append(follower)
                self._tasks.spawn(follower.run(), name=name)

    async def all_is_read(self) -> bool:
        return all([await follower.is_at_the_end() for follower in self._followers])

    def followers(self) -> list[Follower]:
        """Those whose topic is still there."""
        return [follower for follower in self._followers if not follower.is_over]
