"""Build the verbs that people work with at a desk: topics, records, tables, groups, traffic. The console calls these.

They need more than the other verbs of administration: a reader of the log, and brokers that answer about groups.
"""

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from lakestream.administration.administration import Administration
from lakestream.administration.catalog_listing import CatalogListing
from lakestream.administration.groups import GroupAnswers, GroupLooks
from lakestream.administration.sql.box import QueryLake, SqlBox
from lakestream.administration.summary import Summaries
from lakestream.administration.topics.adoptions import Adoptions
from lakestream.administration.topics.changes import TopicChanges
from lakestream.administration.topics.pages import TopicPages
from lakestream.administration.topics.records import DECODED_BYTES_MAX, TopicRecords
from lakestream.administration.topics.schemas import TopicSchemas
from lakestream.administration.topics.table import TopicTableLooks
from lakestream.administration.topics.values import RecordValues
from lakestream.administration.topics.with_columns import TopicsWithColumns
from lakestream.administration.traffic import Traffic
from lakestream.administration.transactions import OpenTransactions
from lakestream.broker.directory import Directory
from lakestream.broker.log_reading import build_log_reader
from lakestream.broker.losses import Losses
from lakestream.broker.offsets import Offsets
from lakestream.broker.topics import Topics
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.contract.topic.growing import GrowingContracts
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.metadata.store import MetadataStore
from lakestream.storage.cache.segment_cache import SegmentCache
from lakestream.storage.index.index import Index
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks
from lakestream.world.threads import Threads

log = structlog.get_logger(__name__)

CACHE_BYTES = 16 * 1024 * 1024
"""Of WAL segments, of table files' records, and of their footers each: a gateway reads a few records for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    topics: TopicPages
    changes: TopicChanges
    with_columns: TopicsWithColumns
    adoptions: Adoptions
    records: TopicRecords
    tables: TopicTableLooks
    groups: GroupLooks
    traffic: Traffic
    schemas: TopicSchemas
    summaries: Summaries
    catalog: CatalogListing
    sql: SqlBox
    transactions: OpenTransactions


def build_desk(
    administration: Administration,
    *,
    tables: TableCatalog,
    store: MetadataStore,
    objects: ObjectStore,
    locations: TableObjects,
    files: MetadataFiles,
    groups: GroupAnswers,
    traffic: Traffic,
    clock: Clock,
    ids: Ids,
    threads: Threads,
    partitions_default: int,
    grace_ms: int,
    lake: Callable[[], QueryLake],
) -> Desk:
    """`partitions_default` is the setting `kafka.num_partitions`, `grace_ms` is `wal.grace_ms`. `lake` says where
    queries find the catalog and its files."""
    tasks = Tasks(on_failure=_tell)
    unseen = _Uncounted()
    reader = build_log_reader(
        objects=objects,
        inline=store.inline,
        cache=SegmentCache(CACHE_BYTES, unseen),
        threads=threads,
        tasks=tasks,
        metrics=unseen,
        table_footer_bytes=CACHE_BYTES,
        table_cache_bytes=CACHE_BYTES,
    )
    offsets = Offsets(store, reader, threads, Losses(clock), DECODED_BYTES_MAX)
    directory = Directory(store, clock, tasks)
    topics = Topics(
        store=store,
        directory=directory,
        index=Index(store, clock, tasks),
        ids=ids,
        partitions_default=partitions_default,
    )
    growing = GrowingContracts(RegisteredWriters(store.registry, threads))
    return Desk(
        topics=TopicPages(store, administration.overview, administration.processes, traffic),
        changes=TopicChanges(store, directory, topics),
        with_columns=TopicsWithColumns(tables, directory, partitions_default),
        adoptions=Adoptions(tables, directory, partitions_default),
        records=TopicRecords(store, reader, offsets, RecordValues(store, files, growing, threads), threads),
        tables=TopicTableLooks(store, locations, files),
        groups=GroupLooks(store, offsets, groups),
        traffic=traffic,
        schemas=TopicSchemas(store),
        summaries=Summaries(store, administration.processes, administration.lags, grace_ms=grace_ms),
        catalog=CatalogListing(store),
        sql=SqlBox(lake),
        transactions=administration.transactions,
    )


def _tell(task: str, error: BaseException) -> None:
    log.warning("background work of the gateway failed", task=task, exc_info=error)


class _Uncounted:
    """Reads of the gateway appear in no metrics: those are the brokers'."""

    def cache_hit(self) -> None: ...

    def cache_miss(self) -> None: ...

    def cache_bytes(self, held: int) -> None: ...

    def segment_read(self, *, bytes: int) -> None: ...

    def table_file_read(self, *, bytes: int) -> None: ...
