"""Metrics of how many bytes of each topic lie both in the WAL and in its table, for the topics with the most: the page
stays of one size however many topics there are."""

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

TOPICS_MAX = 100


def table_copies_page(bytes_of: Mapping[str, int]) -> bytes:
    """Prometheus text. `bytes_of` maps topic names to bytes."""
    registry = CollectorRegistry()
    registry.register(CopiesCollector(bytes_of))
    return generate_latest(registry)


class CopiesCollector(Collector):
    def __init__(self, bytes_of: Mapping[str, int]) -> None:
        """Bytes by topic name."""
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
