"""The pipeline's metrics: plain numbers, converted to Prometheus' form when somebody asks.

Names are `lakestream_table_<what>_<unit>`, counters end in `_total`. No label grows with the number of topics. The
gateway reports the lag of each topic, since it also runs while no pipeline does.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

_COUNTERS = {
    "rounds": "Rounds of compaction that had something to do.",
    "round_failures": "Rounds that broke off; what they left is done again.",
    "jobs": "Jobs committed: one for each topic in each round.",
    "dropped_jobs": "Jobs given up; their topics were left alone for a while and tried again.",
    "compacted_rows": "Rows brought into tables.",
    "quarantined_rows": "Values that broke their contract and were set aside.",
    "unread_keys": "Keys that broke their format; their records are rows, and their columns of keys are null.",
    "compacted_bytes": "Bytes of WAL that became rows.",
    "written_bytes": "Bytes of table files written.",
    "inline_moves": "Objects into which the pipeline moved inline bytes, so that its workers read objects alone.",
    "inline_moved_segments": "Inline flushes whose bytes the pipeline moved into objects.",
    "inline_moved_bytes": "Bytes of the objects into which the pipeline moved inline bytes.",
    "trimmed_files": "Data files that left tables because retention had passed.",
    "dropped_tables": "Tables deleted with their topics.",
    "merged_files": "Data files that were merged into fewer, larger ones.",
    "merged_bytes": "Bytes of the files that were merged.",
    "dropped_merges": "Merges given up, because of an error or because someone else changed the files meanwhile.",
    "merge_seconds": "Time spent on merging files.",
    "clustered_files": "Data files whose rows were clustered into others.",
    "clustered_bytes": "Bytes of the files whose rows were clustered.",
    "dropped_clusterings": "Clusterings given up: an error, a layout that does not fit, or someone else was faster.",
    "clustering_seconds": "Time spent on clustering.",
}
PHASES = ("plan", "rewrite", "commit")


class PipelineMetrics(Collector):
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counts: defaultdict[str, float] = defaultdict(float)
        self._seconds = dict.fromkeys(PHASES, 0.0)
        self._failing_topics = 0
        self.registry.register(self)
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def round_done(self, *, plan_seconds: float, rewrite_seconds: float, commit_seconds: float) -> None:
        self._counts["rounds"] += 1
        for phase, seconds in zip(PHASES, (plan_seconds, rewrite_seconds, commit_seconds), strict=True):
            self._seconds[phase] += seconds

    def round_failed(self) -> None:
        self._counts["round_failures"] += 1

    def job_committed(
        self, *, rows: int, quarantined_rows: int, unread_keys: int, wal_bytes: int, written_bytes: int
    ) -> None:
        self._counts["jobs"] += 1
        self._counts["compacted_rows"] += rows
        self._counts["quarantined_rows"] += quarantined_rows
        self._counts["unread_keys"] += unread_keys
        self._counts["compacted_bytes"] += wal_bytes
        self._counts["written_bytes"] += written_bytes

    def inline_moved(self, *, bytes: int, segments: int) -> None:
        self._counts["inline_moves"] += 1
        self._counts["inline_moved_segments"] += segments
        self._counts["inline_moved_bytes"] += bytes

    def job_dropped(self) -> None:
        self._counts["dropped_jobs"] += 1

    def topics_failing(self, count: int) -> None:
        self._failing_topics = count

    def files_trimmed(self, count: int) -> None:
        self._counts["trimmed_files"] += count

    def table_dropped(self) -> None:
        self._counts["dropped_tables"] += 1

    def files_merged(self, *, files: int, bytes: int) -> None:
        self._counts["merged_files"] += files
        self._counts["merged_bytes"] += bytes

    def merge_dropped(self) -> None:
        self._counts["dropped_merges"] += 1

    def merging_took(self, seconds: float) -> None:
        self._counts["merge_seconds"] += seconds

    def files_clustered(self, *, files: int, bytes: int) -> None:
        self._counts["clustered_files"] += files
        self._counts["clustered_bytes"] += bytes

    def clustering_dropped(self) -> None:
        self._counts["dropped_clusterings"] += 1

    def clustering_took(self, seconds: float) -> None:
        self._counts["clustering_seconds"] += seconds

    def collect(self) -> Iterable[Metric]:
        for name, help in _COUNTERS.items():
            yield CounterMetricFamily(f"lakestream_table_{name}", help, value=self._counts[name])
        yield GaugeMetricFamily(
            "lakestream_table_failing_topics",
            "Topics whose last job failed, by the pipeline that has the lease. Its log says why.",
            value=self._failing_topics,
        )
        phases = CounterMetricFamily(
            "lakestream_table_phase_seconds", "Time spent in each phase of rounds that had work.", labels=("phase",)
        )
        for phase, seconds in self._seconds.items():
            phases.add_metric([phase], seconds)
        yield phases

    def describe(self) -> Iterator[Metric]:
        return iter(())
