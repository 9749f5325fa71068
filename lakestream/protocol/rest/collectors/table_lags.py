"""Metrics of how far tables lag behind their topics, for the topics that lag most: the page stays of one size however
many topics there are."""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from lakestream.administration.lags import TableLag

TOPICS_MAX = 100


def table_lags_page(longest_first: Sequence[TableLag]) -> bytes:
    """Prometheus text."""
    registry = CollectorRegistry()
    registry.register(LagCollector(longest_first))
    return generate_latest(registry)


class LagCollector(Collector):
    def __init__(self, lags: Sequence[TableLag]) -> None:
        self._lags = lags

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily(
            "lakestream_table_lagging_topics",
            "Topics with records that are not in their tables.",
            value=len(self._lags),
        )
        yield GaugeMetricFamily(
            "lakestream_table_late_topics",
            "Topics whose tables are further behind than their configs promise.",
            value=sum(lag.is_late for lag in self._lags),
        )
        of_topic = f"of the {TOPICS_MAX} topics that lag most"
        for name, help, values in (
            (
                "promised_seconds",
                f"How long a record may wait by the topic's lakestream.freshness, {of_topic}.",
                [lag.freshness.promised_seconds for lag in self._lags],
            ),
            ("lag_records", f"Records that are not in the table yet, {of_topic}.", [lag.records for lag in self._lags]),
            ("lag_bytes", f"Bytes of them in the WAL, {of_topic}.", [lag.bytes for lag in self._lags]),
            (
                "lag_seconds",
                f"How long the oldest of them has waited, {of_topic}.",
                [lag.seconds for lag in self._lags],
            ),
        ):
            family = GaugeMetricFamily(f"lakestream_table_{name}", help, labels=("topic",))
            for lag, value in list(zip(self._lags, values, strict=True))[:TOPICS_MAX]:
                family.add_metric([lag.topic], value)
            yield family

    def describe(self) -> Iterator[Metric]:
        return iter(())
