"""Metrics of open transactions: how many hold up their topics, and for how long the oldest is open."""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from lakestream.administration.transactions import LISTED_MAX, STUCK_MS
from lakestream.model.transaction import OpenTransaction


def open_transactions_page(oldest_first: Sequence[OpenTransaction]) -> bytes:
    """Prometheus text."""
    registry = CollectorRegistry()
    registry.register(TransactionCollector(oldest_first))
    return generate_latest(registry)


class TransactionCollector(Collector):
    def __init__(self, oldest_first: Sequence[OpenTransaction]) -> None:
        self._oldest_first = oldest_first

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily(
            "lakestream_open_transactions",
            f"Transactions that are open now; counted up to {LISTED_MAX}.",
            value=len(self._oldest_first),
        )
        yield GaugeMetricFamily(
            "lakestream_stuck_transactions",
            f"Of these, the ones that are open for {STUCK_MS // 1000} seconds or longer.",
            value=sum(one.age_ms >= STUCK_MS for one in self._oldest_first),
        )
        yield GaugeMetricFamily(
            "lakestream_oldest_transaction_seconds",
            "For how long the oldest of them is open. 0: none is.",
            value=max((one.age_ms for one in self._oldest_first), default=0) / 1000,
        )

    def describe(self) -> Iterator[Metric]:
        return iter(())
