"""Build the verbs of administration. Processes and tests call the one `build_administration`."""

from dataclasses import dataclass

from lakestream.administration.compaction import CompactionRequests
from lakestream.administration.condition.figures import FiguresOfTables
from lakestream.administration.copies import TableCopies
from lakestream.administration.fresh_reads import FreshReads
from lakestream.administration.health import TablesHealth
from lakestream.administration.lags import TableLags
from lakestream.administration.missing_files import MissingFiles
from lakestream.administration.overview import Overview
from lakestream.administration.pipeline import Pipelines
from lakestream.administration.processes import BrokerAnswers, LiveProcesses
from lakestream.administration.quarantine import Quarantine
from lakestream.administration.repairs import Maintenance, RepairRequests
from lakestream.administration.topic_table import TopicTableNames
from lakestream.administration.topics.log import TopicLogs
from lakestream.administration.topics.rebuilds import Rebuilds
from lakestream.administration.transactions import OpenTransactions
from lakestream.administration.wal import WalAtRest
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.contract.topic.growing import GrowingContracts
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.metadata.store import MetadataStore
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.threads import Threads


@dataclass(frozen=True, slots=True, kw_only=True)
class Administration:
    processes: LiveProcesses
    overview: Overview
    lags: TableLags
    copies: TableCopies
    topic_tables: TopicTableNames
    topic_logs: TopicLogs
    compaction: CompactionRequests
    fresh_reads: FreshReads
    quarantine: Quarantine
    repairs: RepairRequests
    maintenance: Maintenance
    rebuilds: Rebuilds
    transactions: OpenTransactions


def build_administration(
    *,
    store: MetadataStore,
    locations: TableObjects,
    files: MetadataFiles,
    answers: BrokerAnswers,
    clock: Clock,
    ids: Ids,
    schema_threads: Threads,
    objects_url: str,
    grace_ms: int,
    no_pipeline: str | None = None,
    merge_limits: MergeLimits | None = None,
) -> Administration:
    """`files` belongs to the whole process, so that it caches metadata once. `answers` asks brokers; `grace_ms` is the
    setting `wal.grace_ms`; `schema_threads` parse schemas; `objects_url` is the address of the object store, for
    readers without a broker; `no_pipeline` says why no pipeline was started with this gateway."""
    pipelines = Pipelines(store, ruled_out=no_pipeline)
    processes = LiveProcesses(store, answers, pipelines)
    commits = TopicCommits(objects=locations, files=files, clock=clock, ids=ids)
    transactions = OpenTransactions(store)
    return Administration(
        processes=processes,
        overview=Overview(
            store,
            processes=processes,
            tables=TablesHealth(store, locations, files, FiguresOfTables(locations, merge_limits or MergeLimits())),
            wal=WalAtRest(store, grace_ms=grace_ms),
            missing=MissingFiles(store, locations),
            transactions=transactions,
        ),
        transactions=transactions,
        lags=TableLags(store),
        copies=TableCopies(store, clock),
        topic_tables=TopicTableNames(store),
        topic_logs=TopicLogs(
            store, files, GrowingContracts(RegisteredWriters(store.registry, schema_threads)), objects_url=objects_url
        ),
        compaction=CompactionRequests(store, pipelines),
        fresh_reads=FreshReads(store.jobs, clock),
        quarantine=Quarantine(store, files),
        repairs=RepairRequests(store, ids, pipelines),
        maintenance=Maintenance(
            store,
            locations,
            commits,
            pipelines,
            ids,
            merge_limits or MergeLimits(),
        ),
        rebuilds=Rebuilds(store, commits, pipelines, ids),
    )
