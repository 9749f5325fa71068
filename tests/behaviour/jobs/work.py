"""A topic with records in the WAL, its table, and someone who may compact it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.job import CompactionLease, JobCommit, NewFileSpan, NewJob, TabledRange
from lakestream.model.place import FileSpan, PartitionView, Tail
from lakestream.model.segment import SegmentCommit
from lakestream.model.table import STREAMS, PointerMove, TableKind, TablePointer
from lakestream.model.table_errors import NamespaceExists
from lakestream.model.topic import PartitionId, Topic
from tests.behaviour.metadata.stage import Stage, batch, laid_out
from tests.behaviour.tables.pointers import pointer

TTL_MS = 60_000
RECORDS = 10
"""In each span; it has 100 bytes."""


@dataclass
class Work:
    stage: Stage
    store: MetadataStore
    topic: Topic
    pointer: TablePointer
    lease: CompactionLease
    segments: list[str]
    times: list[int]
    """Of the spans of each partition, in order."""

    @property
    def partition(self) -> PartitionId:
        return self.topic.partitions[0]

    async def produce(self, *times: int) -> list[str]:
        """A segment for each of the times, with one span in every partition."""
        lease = await self.stage.broker(self.store)
        made = []
        for time in times:
            batches = laid_out(*(batch(partition, records=RECORDS, time=time) for partition in self.topic.partitions))
            commit: SegmentCommit = self.stage.commit(lease, *batches)
            await self.store.commit_segment(commit)
            made.append(commit.segment)
        self.segments += made
        self.times += times
        return made

    async def begin(self) -> str:
        job = self.stage.ids.ulid()
        await self.store.jobs.begin_jobs(self.lease.token, [NewJob(job, self.pointer.id)])
        return job

    def commit(
        self,
        job: str,
        end: int,
        *,
        start: int = 0,
        expected: str | None = None,
        cuts: Sequence[int] = (),
        latest: int | None = None,
    ) -> JobCommit:
        """Offsets [start, end) of every partition, one file span for each stretch between the cuts. Their greatest
        time is that of what was produced, unless `latest` says otherwise."""
        moved = replace(self.pointer, metadata_location=f"file:///{job}")
        bounds = [start, *cuts, end]
        spans = [
            NewFileSpan(
                partition=partition,
                base_offset=first,
                last_offset=last - 1,
                file=f"file:///{job}/{number}",
                log_file=None,
                rows=last - first,
                max_timestamp_ms=self._latest(first, last) if latest is None else latest,
            )
            for partition in self.topic.partitions
            for number, (first, last) in enumerate(pairwise(bounds))
        ]
        return JobCommit(
            job=job,
            token=self.lease.token,
            move=PointerMove(pointer=moved, expected_location=expected or self.pointer.metadata_location),
            ranges=tuple(TabledRange(partition, start, end) for partition in self.topic.partitions),
            spans=tuple(spans),
        )

    def _latest(self, first: int, end: int) -> int:
        return max(self.times[first // RECORDS : -(-end // RECORDS)])

    async def compact(self, end: int, *, start: int = 0, cuts: Sequence[int] = (), latest: int | None = None) -> str:
        """A whole job, and the pointer as it is then."""
        job = await self.begin()
        location = await self.store.jobs.commit_job(self.commit(job, end, start=start, cuts=cuts, latest=latest))
        self.pointer = replace(self.pointer, metadata_location=location)
        return location

    async def view(self, offset: int = 0, spans_max: int = 100) -> PartitionView:
        (view,) = await self.store.views([ViewAsk(self.partition, offset, spans_max)])
        assert view is not None
        return view

    async def tail(self) -> Tail:
        return (await self.store.tails([self.partition]))[self.partition].tail

    async def shape(self) -> list[tuple[str, int, int]]:
        """Of each span where it is ('file' or 'wal'), its base and its last offset."""
        spans = (await self.view()).spans
        return [("file" if isinstance(span, FileSpan) else "wal", span.base_offset, span.last_offset) for span in spans]

    async def location(self) -> str | None:
        found = await self.store.tables.table_of_topic(self.topic.id)
        return None if found is None else found.metadata_location


async def set_up(stage: Stage, store: MetadataStore, *times: int, partitions: int = 1) -> Work:
    with suppress(NamespaceExists):
        await store.tables.create_namespace(STREAMS, {})
    topic = await stage.topic(store, partitions)
    table = pointer(
        topic.name, namespace=STREAMS, kind=TableKind.TOPIC, location=f"file:///{topic.name}/v0", topic=topic.id
    )
    await store.tables.move_tables([PointerMove(pointer=table, expected_location=None)])
    lease = await store.jobs.claim_compaction("a", TTL_MS)
    assert lease is not None
    work = Work(stage, store, topic, table, lease, [], [])
    await work.produce(*times)
    return work
