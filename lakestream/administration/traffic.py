"""Traffic of the last hour, kept in memory: bytes and records in and out of all brokers, and the rate of each topic.

every 10 s:  counters of each broker -> the difference to the sample before -> a second
             ends of all partitions  -> how many records each topic got in the last minute

A broker that restarts counts from 0 again; that interval counts as nothing for it. Nothing is written anywhere: a
gateway that restarts begins anew, and Prometheus keeps longer histories from /metrics.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import structlog

from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import LiveBroker
from lakestream.model.errors import LakestreamError
from lakestream.model.topic import TopicId
from lakestream.world.clock import Clock

log = structlog.get_logger(__name__)

SAMPLE_SECONDS = 10.0
SAMPLES_MAX = 360
"""An hour."""
TOPIC_SAMPLES_MAX = 7
"""A minute of intervals."""
COUNTERS = ("produced_bytes", "produced_records", "fetched_bytes", "fetched_records")
"""The broker's counters that are sampled, in the order of a Rates."""


class BrokerCounters(Protocol):
    async def counters(self, broker: LiveBroker) -> Mapping[str, float] | None:
        """The sum of each counter of COUNTERS. None if the broker does not answer. Never raises."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Per second, over one interval of all brokers."""

    at_ms: int
    """The end of the interval."""
    produced_bytes: float
    produced_records: float
    fetched_bytes: float
    fetched_records: float


class Traffic:
    def __init__(self, store: MetadataStore, brokers: BrokerCounters, clock: Clock) -> None:
        self._store = store
        self._brokers = brokers
        self._clock = clock
        self._history: deque[Rates] = deque(maxlen=SAMPLES_MAX)
        self._counted: dict[int, Mapping[str, float]] = {}
        self._counted_at: float | None = None
        self._ends: deque[tuple[float, Mapping[TopicId, int]]] = deque(maxlen=TOPIC_SAMPLES_MAX)

    async def run(self) -> None:
        """Take samples until cancelled."""
        while True:
            try:
                await self.sample()
            except LakestreamError as error:
                log.info("no sample of the traffic: the store does not answer", error=str(error))
            await self._clock.sleep(SAMPLE_SECONDS)

    def history(self) -> tuple[Rates, ...]:
        """The last hour, oldest first."""
        return tuple(self._history)

    def records_per_second(self, topic: TopicId) -> float | None:
        """Over the last minute. None while there is no earlier sample of the topic."""
        if len(self._ends) < 2:
            return None
        (first_at, first), (last_at, last) = self._ends[0], self._ends[-1]
        if topic not in first or topic not in last or last_at <= first_at:
            return None
        return (last[topic] - first[topic]) / (last_at - first_at)

    async def sample(self) -> None:
        now = self._clock.monotonic()
        counted: dict[int, Mapping[str, float]] = {}
        for broker in await self._store.live_brokers():
            if (found := await self._brokers.counters(broker)) is not None:
                counted[broker.id] = found
        if self._counted_at is not None and now > self._counted_at:
            self._history.append(self._rates(counted, now - self._counted_at))
        self._counted, self._counted_at = counted, now
        await self._sample_topics(now)

    def _rates(self, counted: Mapping[int, Mapping[str, float]], seconds: float) -> Rates:
        def rate(name: str) -> float:
            grown = (
                max(0.0, now[name] - self._counted[id][name]) for id, now in counted.items() if id in self._counted
            )
            return sum(grown) / seconds

        return Rates(at_ms=self._clock.wall_ms(), **{name: rate(name) for name in COUNTERS})

    async def _sample_topics(self, now: float) -> None:
        topics = (await self._store.topics()).topics
        sizes = await self._store.tails([partition for topic in topics for partition in topic.partitions])
        ends = {
            topic.id: sum(sizes[partition].tail.next_offset for partition in topic.partitions if partition in sizes)
            for topic in topics
        }
        self._ends.append((now, ends))
