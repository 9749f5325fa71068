"""How a topic's table stands: how far it lags behind the log, what it holds, and what lies at rest beside it.

    tails  -> records that are not in the table yet
    debts  -> bytes and spans of them that lie in the WAL, and since when
    table's metadata -> last commit, files, bytes, and what others wrote on `main`
    copies in the WAL -> records that are in the table and whose WAL objects are still there

What lies at rest beyond one copy of each topic's records: in the WAL, for its grace or a neighbour's sake; in files
that others wrote on top; in files that retention let go of and the grace still keeps; and values that were set aside,
which the log has as well. The WAL's objects have footers besides, and records of deleted topics: its own figure has
these too.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from lakestream.catalog.commits.lineage import last_rows_ms, line_of
from lakestream.catalog.commits.summaries import RETENTION
from lakestream.catalog.commits.table_state import head_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.spec.values import Metadata, by_id
from lakestream.catalog.topic.beside_log import BesideLog
from lakestream.metadata.store import MetadataStore, PartitionSize
from lakestream.model.errors import LakestreamError
from lakestream.model.job import Debt
from lakestream.model.table import LOG_BRANCH, QUARANTINE_BRANCH, TablePointer
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
        locations = TableObjects(objects)
        self._files = MetadataFiles(locations, ids=ids)
        self._beside_log = BesideLog(locations)
        self._grace_ms = grace_ms

    async def of_topics(
        self, topics: Sequence[Topic], sizes: Mapping[PartitionId, PartitionSize]
    ) -> dict[TopicId, dict[str, Any]]:
        """`sizes` must have been read before: what moves meanwhile only moves into tables."""
        debts: dict[TopicId, list[Debt]] = {topic.id: [] for topic in topics}
        for debt in await self._store.jobs.debts():
            debts.setdefault(debt.topic, []).append(debt)
        in_wal_too = await self._store.wal_copies()
        now_ms = await self._store.now_ms()
        places = asyncio.Semaphore(READS_AT_ONCE)

        async def one(topic: Topic) -> dict[str, Any]:
            async with places:
                table = await self._table(topic.id)
            at_rest = _at_rest(table, in_wal_too.get(topic.id, 0), _bytes_of(topic, sizes))
            return {**table, **at_rest, **_lag(topic, sizes, debts[topic.id], now_ms)}

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
        metadata = (await self._files.read(pointer.metadata_location)).metadata
        return {**contents(metadata), "bytes_by_others": await self._beside_log.bytes(metadata)}


def contents(metadata: Metadata) -> dict[str, Any]:
    """What the table's metadata says of the log and of what stays beside it."""
    ref = metadata["refs"][LOG_BRANCH]["snapshot-id"]
    summary = _summary(metadata, LOG_BRANCH)
    return {
        "last_commit_ms": last_rows_ms(metadata, ref),
        "files": int(summary.get("total-data-files", 0)),
        "bytes": int(summary.get("total-files-size", 0)),
        "bytes_let_go": _bytes_let_go(metadata, ref),
        "bytes_set_aside": int(_summary(metadata, QUARANTINE_BRANCH).get("total-files-size", 0)),
        "quarantined_records": quarantined_records(metadata) or 0,
    }


def _summary(metadata: Metadata, branch: str) -> Mapping[str, str]:
    head = head_of(metadata, branch)
    snapshot = None if head is None else by_id(metadata["snapshots"], "snapshot-id", head)
    return (snapshot or {}).get("summary") or {}


def _at_rest(table: Mapping[str, Any], in_wal_too: int, log_bytes: int) -> dict[str, Any]:
    """`log_bytes` are those of the topic's records, as producers sent them. Copies are counted in the measure of where
    they lie: records in the WAL against the topic's records, files against the log's files."""
    in_files = sum(table.get(kind, 0) for kind in ("bytes_by_others", "bytes_let_go", "bytes_set_aside"))
    copies = 1 + _share(in_wal_too, log_bytes) + _share(in_files, table.get("bytes", 0))
    return {
        "bytes_in_wal_too": in_wal_too,
        "bytes_over_one_copy": in_wal_too + in_files,
        "copies": round(copies, 2),
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _bytes_of(topic: Topic, sizes: Mapping[PartitionId, PartitionSize]) -> int:
    return sum(sizes[partition].bytes for partition in topic.partitions if partition in sizes)


def _bytes_let_go(metadata: Metadata, head: int) -> int:
    """Files that retention took out of the log and that older snapshots still keep, until their grace is over."""
    line = list(line_of(metadata, head))
    let_go = [snapshot["summary"] for snapshot in line[:-1] if RETENTION in (snapshot.get("summary") or {})]
    return sum(int(summary.get("removed-files-size", 0)) for summary in let_go)


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
