"""Merge the metrics of many processes into one page: label every sample with its process, and join families by name."""

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector


def merged_metrics(texts: Mapping[str, str], pipeline: str | None = None) -> bytes:
    """`texts` are Prometheus pages by broker id. The pipeline's page, if there is one, is labelled as such."""
    pages = [({"broker": broker}, text) for broker, text in texts.items()]
    if pipeline is not None:
        pages.append(({"process": "pipeline"}, pipeline))
    families: dict[str, Metric] = {}
    for labels, text in pages:
        for family in text_string_to_metric_families(text):
            joined = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                joined.add_sample(sample.name, {**sample.labels, **labels}, sample.value)
    registry = CollectorRegistry()
    registry.register(_Families(families.values()))
    return generate_latest(registry)


class _Families(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families

    def describe(self) -> Iterator[Metric]:
        return iter(())
