"""How far tables lag behind their topics, as metrics. From the metadata store, so that it is told also while nobody
compacts; for the topics that lag most, so that the page stays of one size however many there are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from lakestream.metadata.store import MetadataStore
from lakestream.model.job import Debt
from lakestream.model.topic import TopicId

TOPICS_MAX = 100


class TableLag(NamedTuple):
    topic: str
    records: int
    bytes: int
    seconds: float


async def table_lags_page(store: MetadataStore) -> bytes:
    """Prometheus text."""
    debts = await store.jobs.debts()
    names = {topic.id: topic.name for topic in (await store.topics()).topics} if debts else {}
    registry = CollectorRegistry()
    registry.register(LagCollector(lags_of(debts, names, now_ms=await store.now_ms())))
    return generate_latest(registry)


def lags_of(debts: Sequence[Debt], names: Mapping[TopicId, str], *, now_ms: int) -> list[TableLag]:
    """Of every topic that lags, the one that has waited longest first."""
    by_topic: dict[TopicId, list[Debt]] = {}
    for debt in debts:
        by_topic.setdefault(debt.topic, []).append(debt)
    lags = [_lag(names[topic], own, now_ms) for topic, own in by_topic.items() if topic in names]
    return sorted(lags, key=lambda lag: (-lag.seconds, lag.topic))


def _lag(topic: str, debts: Sequence[Debt], now_ms: int) -> TableLag:
    tails = [debt.tail for debt in debts]
    return TableLag(
        topic=topic,
        records=sum(tail.next_offset - max(tail.tabled_until, tail.log_start) for tail in tails),
        bytes=sum(debt.bytes for debt in debts),
        seconds=max(0, now_ms - min(debt.oldest_ms for debt in debts)) / 1000,
    )


class LagCollector(Collector):
    def __init__(self, lags: Sequence[TableLag]) -> None:
        self._lags = lags

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily(
            "lakestream_table_lagging_topics",
            "Topics with records that are not in their tables.",
            value=len(self._lags),
        )
        of_topic = f"of the {TOPICS_MAX} topics that lag most"
        for name, help, values in (
            ("records", f"Records that are not in the table yet, {of_topic}.", [lag.records for lag in self._lags]),
            ("bytes", f"Bytes of them in the WAL, {of_topic}.", [lag.bytes for lag in self._lags]),
            ("seconds", f"How long the oldest of them has waited, {of_topic}.", [lag.seconds for lag in self._lags]),
        ):
            family = GaugeMetricFamily(f"lakestream_table_lag_{name}", help, labels=("topic",))
            for lag, value in list(zip(self._lags, values, strict=True))[:TOPICS_MAX]:
                family.add_metric([lag.topic], value)
            yield family

    def describe(self) -> Iterator[Metric]:
        return iter(())
