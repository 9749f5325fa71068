"""The cluster in a few numbers, with warnings first: the work does not grow with the files of tables."""

from dataclasses import dataclass

from lakestream.administration.lags import TableLag, TableLags
from lakestream.administration.pipeline import PipelineState
from lakestream.administration.processes import PIPELINE, LiveProcesses
from lakestream.administration.wal import WalAtRest, WalStatus
from lakestream.metadata.store import MetadataStore

LATE_SHOWN_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPart:
    name: str
    problem: str | None
    """None if it is ready. Otherwise a sentence with advice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSummary:
    cluster_id: str
    metadata: str
    """The kind of the metadata store."""
    parts: tuple[ClusterPart, ...]
    pipeline: PipelineState
    wal: WalStatus
    topics: int
    partitions: int
    records: int
    log_bytes: int
    """Bytes of all records, as producers sent them: one copy."""
    untabled_records: int
    groups: int
    lagging_topics: int
    late: tuple[TableLag, ...]
    """Topics behind their promised freshness, the longest first; at most LATE_SHOWN_MAX."""
    late_topics: int
    warnings: tuple[str, ...]


class Summaries:
    def __init__(self, store: MetadataStore, processes: LiveProcesses, lags: TableLags, *, grace_ms: int) -> None:
        self._store = store
        self._processes = processes
        self._lags = lags
        self._wal = WalAtRest(store, grace_ms=grace_ms)

    async def look(self) -> ClusterSummary:
        parts = tuple(ClusterPart(name=name, problem=why) for name, why in (await self._processes.readiness()).items())
        topics = (await self._store.topics()).topics
        sizes = await self._store.tails([partition for topic in topics for partition in topic.partitions])
        lags = await self._lags.longest_first()
        late = [lag for lag in lags if lag.is_late]
        wal = await self._wal.status()
        return ClusterSummary(
            cluster_id=await self._store.cluster_id(),
            metadata=self._store.url.partition("://")[0],
            parts=parts,
            pipeline=await self._processes.pipeline(),
            wal=wal,
            topics=len(topics),
            partitions=len(sizes),
            records=sum(size.tail.next_offset - size.tail.log_start for size in sizes.values()),
            log_bytes=sum(size.bytes for size in sizes.values()),
            untabled_records=sum(size.tail.untabled for size in sizes.values()),
            groups=len(await self._store.groups.list_groups()),
            lagging_topics=len(lags),
            late=tuple(late[:LATE_SHOWN_MAX]),
            late_topics=len(late),
            warnings=_warnings(parts, late, wal),
        )


def _warnings(parts: tuple[ClusterPart, ...], late: list[TableLag], wal: WalStatus) -> tuple[str, ...]:
    said = [f"{part.name}: {part.problem}" for part in parts if part.problem is not None and part.name != PIPELINE]
    said += [str(part.problem) for part in parts if part.problem is not None and part.name == PIPELINE]
    if late:
        worst = late[0]
        said.append(
            f"{len(late)} {'table is' if len(late) == 1 else 'tables are'} behind the promised freshness; "
            f"'{worst.topic}' most, by {worst.seconds:.0f} s where {worst.freshness} is promised. "
            "See whether the pipeline runs and keeps up"
        )
    if wal.overdue_segments:
        said.append(
            f"{len(wal.overdue_segments)} dead WAL segments are past their grace and still exist: "
            "see the brokers' logs for why they cannot be deleted"
        )
    return tuple(said)
