"""How much of each topic lies in the WAL although it is in its table, as metrics. For the topics that have most of it,
so that the page stays of one size however many there are; what the store said is told again for a minute."""

import math
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from lakestream.metadata.store import MetadataStore
from lakestream.model.topic import TopicId
from lakestream.world.clock import Clock

TOPICS_MAX = 100
TOLD_AGAIN_SECONDS = 60.0
"""The store looks at every commit of the last hours for it, and the figure changes by the hour."""


class TableCopies:
    def __init__(self, store: MetadataStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._found: Mapping[TopicId, int] = {}
        self._found_at = -math.inf

    async def page(self) -> bytes:
        """Prometheus text."""
        now = self._clock.monotonic()
        if now - self._found_at >= TOLD_AGAIN_SECONDS:
            self._found, self._found_at = await self._store.wal_copies(), now
        names = {topic.id: topic.name for topic in (await self._store.topics()).topics} if self._found else {}
        registry = CollectorRegistry()
        registry.register(CopiesCollector({names[id]: size for id, size in self._found.items() if id in names}))
        return generate_latest(registry)


class CopiesCollector(Collector):
    def __init__(self, bytes_of: Mapping[str, int]) -> None:
        """By name of the topic."""
        self._bytes_of = bytes_of

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily(
            "lakestream_table_bytes_in_wal_too",
            "Bytes of records that are in their tables and in WAL objects as well, of all topics.",
            value=sum(self._bytes_of.values()),
        )
        family = GaugeMetricFamily(
            "lakestream_table_topic_bytes_in_wal_too",
            f"The same by topic, of the {TOPICS_MAX} topics that have most.",
            labels=("topic",),
        )
        for topic, size in sorted(self._bytes_of.items(), key=lambda item: (-item[1], item[0]))[:TOPICS_MAX]:
            family.add_metric([topic], size)
        yield family

    def describe(self) -> Iterator[Metric]:
        return iter(())
