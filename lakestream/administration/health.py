"""The health of a topic's table: its lag behind the log, its contents, and the bytes at rest in addition to one copy.

    tails  -> records that are not in the table yet
    debts  -> bytes and spans of them that lie in the WAL, and since when
    table's metadata -> last commit, files, bytes, and files that others wrote on `main`; its condition (condition/)
    copies in the WAL -> records that are in the table and whose WAL objects are still there

Five things lie at rest beyond one copy of each topic's records: records in the WAL, because of the grace or of a
neighbour's records; files that others wrote on top; clustered rows; files that retention released and the grace still
keeps; and quarantined values, which the log has as well. Files that `main` keeps for longer than the log are no second
copy. The WAL's objects also have footers, and records of deleted topics: only the WAL's own figure (wal.py) includes
these.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakestream.administration.condition.figures import FiguresOfTables, TableFigures
from lakestream.administration.condition.rating import RatedTable, Rating, rating_of
from lakestream.administration.lags import TableLag, debts_by_topic, table_lag
from lakestream.administration.quarantine import quarantined_records
from lakestream.catalog.commits.lineage import last_rows_ms, line_of
from lakestream.catalog.commits.summaries import RETENTION, RETENTION_BYTES
from lakestream.catalog.commits.table_state import head_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.spec.values import Metadata, by_id
from lakestream.catalog.topic.beside_log import BesideLog
from lakestream.metadata.rules.missing import shown_table
from lakestream.metadata.store import MetadataStore, PartitionSize
from lakestream.model.configs.topic_config import chosen_freshness, typed_topic_config
from lakestream.model.errors import LakestreamError
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH, QUARANTINE_BRANCH
from lakestream.model.topic import PartitionId, Topic, TopicId

READS_AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class TableContents:
    """Facts from the table's metadata about the log's files and about other files."""

    last_commit_ms: int | None
    files: int
    bytes: int
    bytes_let_go: int
    bytes_set_aside: int
    quarantined_records: int
    bytes_by_others: int
    bytes_clustered: int
    """Of clustered files of `main`: the log has their rows as well, as long as it keeps them."""
    bytes_kept_by_table: int
    """Files that the table keeps, and that the log does not have."""

    @property
    def bytes_beside_log(self) -> int:
        return self.bytes_by_others + self.bytes_clustered + self.bytes_let_go + self.bytes_set_aside


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTable:
    name: str
    listed: bool
    contents: TableContents | None = None
    """None if there is a problem."""
    figures: TableFigures | None = None
    """The same."""
    problem: str | None = None
    """Why the table could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHealth:
    table: NamedTable | None
    """None while the pipeline has not made the table."""
    bytes_in_wal_too: int
    bytes_over_one_copy: int
    copies: float
    keeps_log_for_ever: bool
    """Whether the topic has no retention, so that clustered rows stay a second copy."""
    lag: TableLag
    rating: Rating | None
    """None while there is no table, or it cannot be read."""


class TablesHealth:
    def __init__(
        self, store: MetadataStore, locations: TableObjects, files: MetadataFiles, figures: FiguresOfTables
    ) -> None:
        self._store = store
        self._files = files
        self._figures = figures
        self._beside_log = BesideLog(locations)

    async def of_topics(
        self, topics: Sequence[Topic], sizes: Mapping[PartitionId, PartitionSize]
    ) -> dict[TopicId, TableHealth]:
        """The caller must have read `sizes` before: records that move meanwhile only move into tables."""
        debts = debts_by_topic(await self._store.jobs.debts())
        in_wal_too = await self._store.wal_copies()
        now_ms = await self._store.now_ms()
        places = asyncio.Semaphore(READS_AT_ONCE)

        async def one(topic: Topic) -> TableHealth:
            async with places:
                table = await self._table(topic.id)
            own = [sizes[partition] for partition in topic.partitions if partition in sizes]
            freshness, tails = chosen_freshness(topic.config), [size.tail for size in own]
            lag = table_lag(topic.name, freshness, tails, debts.get(topic.id, ()), now_ms=now_ms)
            log_bytes = sum(size.bytes for size in own)
            return _health(topic, table, in_wal_too.get(topic.id, 0), log_bytes, lag)

        found = await asyncio.gather(*map(one, topics))
        return {topic.id: health for topic, health in zip(topics, found, strict=True)}

    async def _table(self, topic: TopicId) -> NamedTable | None:
        pointer = await self._store.tables.table_of_topic(topic)
        if pointer is None:
            return None
        name = shown_table(pointer.namespace, pointer.name)
        try:
            metadata = (await self._files.read(pointer.metadata_location)).metadata
            contents, figures = await self._contents(metadata), await self._figures.of(metadata)
            return NamedTable(name=name, listed=pointer.listed, contents=contents, figures=figures)
        except LakestreamError as error:  # one damaged table hides none of the others
            return NamedTable(name=name, listed=pointer.listed, problem=str(error))

    async def _contents(self, metadata: Metadata) -> TableContents:
        head = metadata["refs"][LOG_BRANCH]["snapshot-id"]
        summary = _summary(metadata, LOG_BRANCH)
        beside = await self._beside_log.bytes(metadata)
        return TableContents(
            last_commit_ms=last_rows_ms(metadata, head),
            files=int(summary.get("total-data-files", 0)),
            bytes=int(summary.get("total-files-size", 0)),
            bytes_let_go=_bytes_let_go(metadata),
            bytes_set_aside=int(_summary(metadata, QUARANTINE_BRANCH).get("total-files-size", 0)),
            quarantined_records=quarantined_records(metadata) or 0,
            bytes_by_others=beside.by_others,
            bytes_clustered=beside.clustered,
            bytes_kept_by_table=beside.of_main_alone,
        )


def _summary(metadata: Metadata, branch: str) -> Mapping[str, str]:
    head = head_of(metadata, branch)
    snapshot = None if head is None else by_id(metadata["snapshots"], "snapshot-id", head)
    return (snapshot or {}).get("summary") or {}


def _bytes_let_go(metadata: Metadata) -> int:
    """Bytes of files that no branch has any more and that older snapshots keep until their grace is over."""
    lines = [list(line_of(metadata, head_of(metadata, branch)))[:-1] for branch in (LOG_BRANCH, MAIN_BRANCH)]
    # A commit may have made a snapshot for each branch, at one time: they speak of the same files.
    commits = {
        snapshot["timestamp-ms"]: snapshot["summary"]
        for line in lines
        for snapshot in line
        if RETENTION in (snapshot.get("summary") or {})
    }
    sizes = (summary.get(RETENTION_BYTES, summary.get("removed-files-size", 0)) for summary in commits.values())
    return sum(map(int, sizes))


def _health(topic: Topic, table: NamedTable | None, in_wal_too: int, log_bytes: int, lag: TableLag) -> TableHealth:
    """`log_bytes` are those of the topic's records, as producers sent them. Copies are measured where they lie: records
    in the WAL against the topic's records, files against one copy of what the log or the table keeps."""
    config = typed_topic_config(topic.config)
    contents = None if table is None else table.contents
    in_files = 0 if contents is None else contents.bytes_beside_log
    table_bytes = 0 if contents is None else contents.bytes + contents.bytes_kept_by_table
    return TableHealth(
        table=table,
        bytes_in_wal_too=in_wal_too,
        bytes_over_one_copy=in_wal_too + in_files,
        copies=round(1 + _share(in_wal_too, log_bytes) + _share(in_files, table_bytes), 2),
        keeps_log_for_ever=config.retention_ms is None and config.retention_bytes is None,
        lag=lag,
        rating=_rating(topic, table),
    )


def _rating(topic: Topic, table: NamedTable | None) -> Rating | None:
    if table is None or table.contents is None or table.figures is None:
        return None
    return rating_of(
        RatedTable(
            topic=topic.name,
            name=table.name,
            figures=table.figures,
            log_files=table.contents.files,
            extra_bytes=table.contents.bytes_beside_log,
            bytes_by_others=table.contents.bytes_by_others,
        )
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
