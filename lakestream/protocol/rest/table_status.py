"""How a topic's table stands: how far it lags behind the log, what it holds, and what lies at rest beside it.

    tails  -> records that are not in the table yet
    debts  -> bytes and spans of them that lie in the WAL, and since when
    table's metadata -> last commit, files, bytes, and what others wrote on `main`

What lies at rest beyond one copy is known for each topic as far as it is in table files: what others wrote on top, and
what retention let go of and the grace still keeps. The WAL's objects hold many topics each, so what is superfluous in
them is known for all of them together (`wal`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from lakestream.catalog.lineage import last_rows_ms, line_of
from lakestream.catalog.locations import TableObjects
from lakestream.catalog.metadata_file import MetadataFiles
from lakestream.catalog.summaries import JOB, RETENTION
from lakestream.catalog.values import Json, Metadata, by_id
from lakestream.metadata.store import MetadataStore, PartitionSize
from lakestream.model.errors import LakestreamError
from lakestream.model.job import Debt
from lakestream.model.table import LOG_BRANCH, TablePointer
from lakestream.model.topic import PartitionId, Topic, TopicId
from lakestream.protocol.rest.quarantine import quarantined_records
from lakestream.world.ids import Ids
from lakestream.world.objects.store import ObjectStore

READS_AT_ONCE = 16
OVERDUE_AFTER_MS = 300_000
"""Garbage is looked for every half minute. What is past its grace for so much longer has been overlooked."""
OVERDUE_SHOWN_MAX = 100


class TableStatus:
    def __init__(self, store: MetadataStore, objects: ObjectStore, *, ids: Ids, grace_ms: int) -> None:
        self._store = store
        self._files = MetadataFiles(TableObjects(objects), ids=ids)
        self._grace_ms = grace_ms

    async def of_topics(
        self, topics: Sequence[Topic], sizes: Mapping[PartitionId, PartitionSize]
    ) -> dict[TopicId, dict[str, Any]]:
        """`sizes` must have been read before: what moves meanwhile only moves into tables."""
        debts: dict[TopicId, list[Debt]] = {topic.id: [] for topic in topics}
        for debt in await self._store.jobs.debts():
            debts.setdefault(debt.topic, []).append(debt)
        now_ms = await self._store.now_ms()
        places = asyncio.Semaphore(READS_AT_ONCE)

        async def one(topic: Topic) -> dict[str, Any]:
            async with places:
                table = await self._table(topic.id)
            return {**table, **_lag(topic, sizes, debts[topic.id], now_ms)}

        found = await asyncio.gather(*map(one, topics))
        return {topic.id: status for topic, status in zip(topics, found, strict=True)}

    async def wal(self) -> dict[str, Any]:
        size = await self._store.wal_size()
        overdue = await self._store.deletable_segments(self._grace_ms + OVERDUE_AFTER_MS, OVERDUE_SHOWN_MAX)
        return {
            "bytes": size.bytes,
            "bytes_over_one_copy": max(0, size.bytes - size.needed_bytes),
            "grace_ms": self._grace_ms,
            "overdue_segments": overdue,
        }

    async def starts(self, topics: Sequence[Topic]) -> dict[PartitionId, int]:
        """The first offset of each partition that lies in the WAL, where any does."""
        partitions = [partition for topic in topics for partition in topic.partitions]
        spans = await self._store.jobs.untabled_spans(partitions, 1)
        return {partition: first[0].span.base_offset for partition, first in spans.items() if first}

    async def _table(self, topic: TopicId) -> dict[str, Any]:
        pointer = await self._store.tables.table_of_topic(topic)
        if pointer is None:
            return {"table": None}
        named = {"table": ".".join((*pointer.namespace, pointer.name)), "listed": pointer.listed}
        try:
            return named | await self._contents(pointer)
        except LakestreamError as error:
            return named | {"error": str(error)}  # one damaged table hides none of the others

    async def _contents(self, pointer: TablePointer) -> dict[str, Any]:
        return contents((await self._files.read(pointer.metadata_location)).metadata)


def contents(metadata: Metadata) -> dict[str, Any]:
    """What the table's metadata says of the log and of what others did beside it."""
    ref = metadata["refs"][LOG_BRANCH]["snapshot-id"]
    head = by_id(metadata["snapshots"], "snapshot-id", ref) or {"summary": {}}
    summary = head["summary"]
    by_others, let_go = sum(map(_bytes_by_others, metadata["snapshots"])), _bytes_let_go(metadata, ref)
    return {
        "last_commit_ms": last_rows_ms(metadata, ref),
        "files": int(summary.get("total-data-files", 0)),
        "bytes": int(summary.get("total-files-size", 0)),
        "bytes_by_others": by_others,
        "bytes_let_go": let_go,
        "bytes_over_one_copy": by_others + let_go,
        "quarantined_records": quarantined_records(metadata) or 0,
    }


def _bytes_let_go(metadata: Metadata, head: int) -> int:
    """Files that retention took out of the log and that older snapshots still keep, until their grace is over."""
    line = list(line_of(metadata, head))
    let_go = [snapshot["summary"] for snapshot in line[:-1] if RETENTION in (snapshot.get("summary") or {})]
    return sum(int(summary.get("removed-files-size", 0)) for summary in let_go)


def _bytes_by_others(snapshot: Json) -> int:
    """Files that no commit of ours added: rewritten rows and deletes, theirs on top of the one copy."""
    summary = snapshot.get("summary") or {}
    return 0 if JOB in summary else int(summary.get("added-files-size", 0))


def _lag(
    topic: Topic, sizes: Mapping[PartitionId, PartitionSize], debts: Sequence[Debt], now_ms: int
) -> dict[str, Any]:
    tails = [sizes[partition].tail for partition in topic.partitions if partition in sizes]
    records = sum(tail.next_offset - max(tail.tabled_until, tail.log_start) for tail in tails)
    oldest_ms = min((debt.oldest_ms for debt in debts), default=now_ms)
    return {
        "lag_records": records,
        "lag_bytes": sum(debt.bytes for debt in debts),
        "lag_seconds": max(0, now_ms - oldest_ms) / 1000,
        "debt_spans": sum(debt.spans for debt in debts),
    }
