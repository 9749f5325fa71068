"""The broker's metrics: plain numbers, converted to Prometheus' form when somebody asks.

`Metrics` satisfies the small Protocols that the parts of a broker define for themselves (FlushMetrics, CacheMetrics,
ReadMetrics, TableReadMetrics, FetchMetrics, GarbageMetrics, ServerMetrics). All of them report on the event loop's
thread, so a count is one addition. Only events that happen once per flush use histograms.

Names are `lakestream_<what>_<unit>`, counters end in `_total`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, GCCollector, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from lakestream.model.configs.profile import FlushCost, Profile
from lakestream.model.group import PartitionLag

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_BYTES = tuple(float(4**power) for power in range(5, 14))
"""1 KiB to 64 MiB."""

_COUNTERS = {
    "flush_batches": "Record batches made durable.",
    "flush_failures": "Segments that could not be made durable; their producers were told.",
    "produced_bytes": "Bytes of segments made durable, inline or as objects.",
    "produced_records": "Records made durable.",
    "inline_moves": "Objects into which inline bytes were moved: one PUT each.",
    "inline_moved_segments": "Inline flushes whose bytes were moved into objects.",
    "inline_moved_bytes": "Bytes of the objects into which inline bytes were moved.",
    "fetched_bytes": "Bytes of record batches sent to readers.",
    "fetched_records": "Records sent to readers, counted from the offset they asked for.",
    "cache_hits": "Reads of a segment that were served from memory.",
    "cache_misses": "Reads of a segment that went to the object store.",
    "segment_read_bytes": "Bytes of WAL segments read from the object store.",
    "table_read_bytes": "Bytes of table files read from the object store.",
    "garbage_spans": "Spans dropped by retention.",
    "garbage_segments": "Objects of dead segments deleted.",
    "garbage_objects": "Objects without a fate that were given up and deleted.",
    "connections_opened": "Connections accepted.",
    "connections_refused": "Connections closed at once because too many were open.",
    "throttled_connections": "Times a connection had to be silent because its user or client id had used up a quota.",
    "response_bytes": "Bytes of answers handed to sockets.",
}


_OBJECT, _INLINE = "object", "inline"


class Metrics(Collector):
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counts: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()
        self._request_bytes: Counter[str] = Counter()
        self._request_errors: Counter[tuple[str, int]] = Counter()
        self._pauses: Counter[str] = Counter()
        self._inline_refusals: Counter[str] = Counter()
        self._flushes: Counter[tuple[str, str]] = Counter()
        self._flushed_bytes: Counter[tuple[str, str]] = Counter()
        self._connections = 0
        self._cache_bytes = 0
        self._group_lags: Sequence[PartitionLag] = ()
        self._flush_bytes = self._histogram("flush_bytes", "Size of flushed segments.", _BYTES)
        self._put_seconds = self._histogram("put_seconds", "Time to make a segment durable.", _SECONDS)
        self._commit_seconds = self._histogram("commit_seconds", "Time to commit a segment to the metadata.", _SECONDS)
        self.registry.register(self)
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    # --- the log ---------------------------------------------------------------------------------

    def flushed(
        self,
        *,
        profile: Profile,
        bytes: int,
        batches: int,
        records: int,
        put_seconds: float | None,
        commit_seconds: float,
    ) -> None:
        flush = (profile, _OBJECT if put_seconds is not None else _INLINE)
        self._flushes[flush] += 1
        self._flushed_bytes[flush] += bytes
        self._counts["flush_batches"] += batches
        self._counts["produced_records"] += records
        self._counts["produced_bytes"] += bytes
        self._flush_bytes.observe(bytes)
        if put_seconds is not None:
            self._put_seconds.observe(put_seconds)
        self._commit_seconds.observe(commit_seconds)

    def flush_failed(self) -> None:
        self._counts["flush_failures"] += 1

    def flush_costs(self) -> list[FlushCost]:
        return [
            FlushCost(
                profile=profile,
                puts=self._flushes[profile, _OBJECT],
                put_bytes=self._flushed_bytes[profile, _OBJECT],
                inline_flushes=self._flushes[profile, _INLINE],
                inline_bytes=self._flushed_bytes[profile, _INLINE],
            )
            for profile in Profile
        ]

    def inline_refused(self, why: str) -> None:
        self._inline_refusals[why] += 1

    def inline_moved(self, *, bytes: int, segments: int) -> None:
        self._counts["inline_moves"] += 1
        self._counts["inline_moved_segments"] += segments
        self._counts["inline_moved_bytes"] += bytes

    def fetched(self, *, bytes: int, records: int) -> None:
        self._counts["fetched_bytes"] += bytes
        self._counts["fetched_records"] += records

    def cache_hit(self) -> None:
        self._counts["cache_hits"] += 1

    def cache_miss(self) -> None:
        self._counts["cache_misses"] += 1

    def cache_bytes(self, held: int) -> None:
        self._cache_bytes = held

    def segment_read(self, *, bytes: int) -> None:
        self._counts["segment_read_bytes"] += bytes

    def table_file_read(self, *, bytes: int) -> None:
        self._counts["table_read_bytes"] += bytes

    def garbage(self, *, spans_dropped: int = 0, segments_deleted: int = 0, objects_abandoned: int = 0) -> None:
        self._counts["garbage_spans"] += spans_dropped
        self._counts["garbage_segments"] += segments_deleted
        self._counts["garbage_objects"] += objects_abandoned

    # --- groups ----------------------------------------------------------------------------------

    def group_lags(self, lags: Sequence[PartitionLag]) -> None:
        self._group_lags = lags

    # --- the Kafka server ------------------------------------------------------------------------

    def connection_opened(self) -> None:
        self._connections += 1
        self._counts["connections_opened"] += 1

    def connection_closed(self) -> None:
        self._connections -= 1

    def connection_refused(self) -> None:
        self._counts["connections_refused"] += 1

    def request_received(self, api: str, frame_bytes: int) -> None:
        self._requests[api] += 1
        self._request_bytes[api] += frame_bytes

    def request_failed(self, api: str, code: int) -> None:
        self._request_errors[api, code] += 1

    def client_throttled(self) -> None:
        self._counts["throttled_connections"] += 1

    def responses_sent(self, response_bytes: int) -> None:
        self._counts["response_bytes"] += response_bytes

    def reading_paused(self, why: str) -> None:
        self._pauses[why] += 1

    # --- what Prometheus asks --------------------------------------------------------------------

    def collect(self) -> Iterable[Metric]:
        yield from (_counter(name, help, self._counts[name]) for name, help in _COUNTERS.items())
        yield GaugeMetricFamily("lakestream_connections", "Connections open now.", value=self._connections)
        yield GaugeMetricFamily("lakestream_cache_bytes", "Segment bytes in memory.", value=self._cache_bytes)
        yield _labelled("requests", "Requests received.", ("api",), self._requests)
        yield _labelled("request_bytes", "Bytes of requests received.", ("api",), self._request_bytes)
        yield _labelled("request_errors", "Requests answered with an error.", ("api", "code"), self._request_errors)
        yield _labelled(
            "backpressure_pauses", "Times a socket was not read because too much was held.", ("why",), self._pauses
        )

        places = ("profile", "place")
        yield _labelled(
            "flushes",
            "Flushes, to an object (one PUT each) or inline, into the metadata store with their offsets.",
            places,
            self._flushes,
        )
        yield _labelled("flushed_bytes", "Bytes of these flushes.", places, self._flushed_bytes)
        yield _labelled(
            "inline_refusals",
            "Small flushes that went to an object, because too many inline bytes were at rest or came in a second.",
            ("why",),
            self._inline_refusals,
        )
        yield self._lag_family()

    def _lag_family(self) -> Metric:
        family = GaugeMetricFamily(
            "lakestream_group_lag_records",
            "Records that a consumer group has not read, from its committed offset to the log's end.",
            labels=("group", "topic", "partition"),
        )
        for lag in self._group_lags:
            family.add_metric([lag.group, lag.topic, str(lag.number)], lag.records)
        return family

    def describe(self) -> Iterator[Metric]:
        return iter(())

    def _histogram(self, name: str, help: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(f"lakestream_{name}", help, buckets=buckets, registry=self.registry)


def _counter(name: str, help: str, count: int) -> Metric:
    return CounterMetricFamily(f"lakestream_{name}", help, value=count)


def _labelled(
    name: str,
    help: str,
    labels: tuple[str, ...],
    counts: "Counter[str] | Counter[tuple[str, int]] | Counter[tuple[str, str]]",
) -> Metric:
    family = CounterMetricFamily(f"lakestream_{name}", help, labels=labels)
    for key, count in sorted(counts.items()):
        family.add_metric([key] if isinstance(key, str) else [str(part) for part in key], count)
    return family
