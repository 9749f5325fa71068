"""WAL segments as a broker leaves them: objects put, and committed to the store with the places of their batches."""

from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.order_records import NOW_MS
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerSpec
from lakestream.model.configs.value_configs import VALUE_FORMAT
from lakestream.model.segment import SegmentBatch, SegmentCommit
from lakestream.model.topic import PartitionId, Topic, TopicSpec
from lakestream.storage.wal.segment import MAGIC, segment_key
from lakestream.world.ids import Ids
from lakestream.world.objects.store import ObjectStore

SEGMENT_BYTES = 8 << 20
LEASE_MS = 3_600_000


class Batch(NamedTuple):
    partition: PartitionId
    data: bytes
    records: int


class Wal:
    def __init__(self, store: MetadataStore, objects: ObjectStore, ids: Ids) -> None:
        self._store = store
        self._objects = objects
        self._ids = ids
        self._incarnation: int | None = None

    async def create_topic(self, name: str, partitions: int, *, value_format: str) -> Topic:
        spec = TopicSpec(id=self._ids.topic_id(), name=name, partitions=partitions, config={VALUE_FORMAT: value_format})
        return await self._store.create_topic(spec)

    async def fill(self, batches: Iterable[Batch]) -> int:
        """Segments of the usual size. Returns their bytes."""
        segment: list[Batch] = []
        total = 0
        for batch in batches:
            segment.append(batch)
            if sum(len(each.data) for each in segment) >= SEGMENT_BYTES:
                total += await self.put(segment)
                segment = []
        return total + (await self.put(segment) if segment else 0)

    async def put(self, batches: Iterable[Batch]) -> int:
        """One segment."""
        name = self._ids.ulid()
        in_order = sorted(batches, key=lambda batch: batch.partition)
        placed, at = [], len(MAGIC)
        for partition, data, records in in_order:
            placed.append(SegmentBatch(partition, at, len(data), records, NOW_MS, -1, -1, -1, -1))
            at += len(data)
        await self._objects.put(segment_key(name), [MAGIC, *(batch.data for batch in in_order)])
        await self._store.commit_segment(
            SegmentCommit(
                segment=name,
                broker_id=1,
                incarnation=await self._registered(),
                bytes=at - len(MAGIC),
                batches=tuple(placed),
            )
        )
        return at - len(MAGIC)

    async def _registered(self) -> int:
        if self._incarnation is None:
            spec = BrokerSpec(id=1, host="127.0.0.1", port=1, rack=None, http="127.0.0.1:1")
            self._incarnation = (await self._store.register_broker(spec, LEASE_MS)).incarnation
        return self._incarnation
