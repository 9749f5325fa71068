"""Generates docs/reference/metrics.md: every metric of every process, with its labels and its meaning.

python -m lakestream.cli.metrics_reference > docs/reference/metrics.md
"""

from collections.abc import Iterable

from prometheus_client.core import Metric

from lakestream.administration.lags import TableLag
from lakestream.broker.metrics import Metrics
from lakestream.model.freshness import DEFAULT_FRESHNESS
from lakestream.model.group import PartitionLag
from lakestream.protocol.rest.collectors.open_transactions import TransactionCollector
from lakestream.protocol.rest.collectors.table_copies import CopiesCollector
from lakestream.protocol.rest.collectors.table_lags import LagCollector
from lakestream.table.metrics import PipelineMetrics

PREFIX = "lakestream_"
OF_THE_EXPOSITION = frozenset({"le"})
"""Labels that come with Prometheus' form of a histogram."""

_HEAD = """\
# Metrics

What `/metrics` shows, in Prometheus' form. The gateway asks every live broker and adds the label `broker`; it asks the
pipeline and adds `process="pipeline"`. Beside these there are the usual ones of a Python process: `process_*`,
`python_*`. This page is made from the code: `python -m lakestream.cli.metrics_reference`.
"""

_TABLE = """
## {}

| metric | kind | labels | meaning |
|---|---|---|---|
"""


def reference_page() -> str:
    """The page, whole."""
    lag = TableLag(topic="t", records=1, bytes=1, seconds=1.0, spans=1, freshness=DEFAULT_FRESHNESS)
    gateway = (
        *LagCollector([lag]).collect(),
        *CopiesCollector({"t": 1}).collect(),
        *TransactionCollector([]).collect(),
    )
    return (
        _HEAD
        + _table("Brokers", _seen_everything().registry.collect())
        + _table("Pipeline", PipelineMetrics().registry.collect())
        + _table("Gateway", gateway)
    )


def _table(title: str, families: Iterable[Metric]) -> str:
    own = sorted((family for family in families if family.name.startswith(PREFIX)), key=lambda each: each.name)
    return _TABLE.format(title) + "".join(map(_row, own))


def _seen_everything() -> Metrics:
    """A broker's metrics after one of each event that adds a label."""
    metrics = Metrics()
    metrics.request_received("Produce", 1)
    metrics.request_failed("Produce", 1)
    metrics.reading_paused("bytes")
    metrics.group_lags([PartitionLag("g", "t", 0, 1)])
    return metrics


def _row(family: Metric) -> str:
    name = f"{family.name}_total" if family.type == "counter" else family.name
    labels = sorted({label for sample in family.samples for label in sample.labels} - OF_THE_EXPOSITION)
    return f"| `{name}` | {family.type} | {', '.join(f'`{label}`' for label in labels)} | {family.documentation} |\n"


if __name__ == "__main__":
    print(reference_page(), end="")
