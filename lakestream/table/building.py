"""Assembles the pipeline: `build_pipeline` is the one place that knows how its parts fit, in processes and tests."""

from collections.abc import Callable, Mapping

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.contract.topic.growing import GrowingContracts
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.metadata.store import MetadataStore
from lakestream.storage.wal.inline_budget import InlineLimits
from lakestream.storage.wal.mover import Mover
from lakestream.table.budget import UpkeepBudget
from lakestream.table.clustering.clustering import Clustering
from lakestream.table.compaction.commit import Committer
from lakestream.table.compaction.plan import PlanLimits
from lakestream.table.compaction.rounds import Rewriter, Rewriting, WorkersObjects
from lakestream.table.contracts import TopicContracts
from lakestream.table.merging.kinds import FileKinds
from lakestream.table.merging.merging import Merging
from lakestream.table.metrics import PipelineMetrics
from lakestream.table.pipeline import Pipeline
from lakestream.table.rebuilding.rebuilding import Rebuilding
from lakestream.table.repairs import Repairs
from lakestream.table.topic_tables import TopicTables
from lakestream.table.upkeep.aged_files import AgedFiles
from lakestream.table.upkeep.copies import Copies
from lakestream.table.upkeep.dropped_jobs import DroppedJobs
from lakestream.table.upkeep.dropped_tables import DroppedTables
from lakestream.table.upkeep.orphan_data import OrphanData
from lakestream.table.upkeep.orphan_metadata import OrphanMetadata
from lakestream.table.upkeep.trimming import Trimming
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.objects.store import ObjectStore
from lakestream.world.threads import InlineThreads, Threads

GRACE_MS = 3_600_000
"""The default of the setting `wal.grace_ms`: how long readers may hold on to objects that nothing refers to now."""


def build_pipeline(
    *,
    store: MetadataStore,
    objects: ObjectStore,
    objects_options: Mapping[str, str],
    rewriter: Rewriter,
    limits: PlanLimits,
    parallel: Callable[[], int] | None = None,
    merge_limits: MergeLimits | None = None,
    grace_ms: int = GRACE_MS,
    clock: Clock,
    ids: Ids,
    threads: Threads | None = None,
    metrics: PipelineMetrics | None = None,
) -> Pipeline:
    """`threads` parse schemas. Without them the event loop does. `parallel` tells how many tasks can run now."""
    counted = metrics or PipelineMetrics()
    locations = TableObjects(objects)
    files = MetadataFiles(locations, ids=ids)
    commits = TopicCommits(objects=locations, files=files, clock=clock, ids=ids)
    rewriting = Rewriting(
        rewriter=rewriter,
        contracts=TopicContracts(
            store, files, GrowingContracts(RegisteredWriters(store.registry, threads or InlineThreads()))
        ),
        locations=locations,
        workers_objects=WorkersObjects(url=objects.url, options=objects_options),
    )
    dropped_jobs = DroppedJobs(store, locations)
    orphan_data = OrphanData(store, locations, commits, clock)
    limits_of_merges = merge_limits or MergeLimits()
    budget = UpkeepBudget(clock, share=limits_of_merges.time_share)
    committer = Committer(store=store, objects=objects, locations=locations, commits=commits, clock=clock)
    clustering = Clustering(
        store=store,
        locations=locations,
        commits=commits,
        rewriting=rewriting,
        committer=committer,
        dropped_jobs=dropped_jobs,
        metrics=counted,
        limits=limits_of_merges,
        budget=budget,
        clock=clock,
        ids=ids,
    )
    return Pipeline(
        store=store,
        mover=Mover(
            store=store, objects=objects, bytes_max=InlineLimits().move_bytes, clock=clock, ids=ids, metrics=counted
        ),
        locations=locations,
        tables=TopicTables(store, commits),
        rewriting=rewriting,
        repairs=Repairs(
            store=store,
            locations=locations,
            commits=commits,
            rewriting=rewriting,
            dropped_jobs=dropped_jobs,
            clock=clock,
            ids=ids,
        ),
        committer=committer,
        dropped_jobs=dropped_jobs,
        orphan_metadata=OrphanMetadata(store, locations, commits, orphan_data, clock, grace_ms=grace_ms),
        orphan_data=orphan_data,
        trimming=Trimming(
            store,
            commits,
            Copies(store, objects, locations, commits),
            AgedFiles(store, objects, locations, commits),
            clock,
            counted,
            grace_ms=grace_ms,
        ),
        merging=Merging(
            store=store,
            locations=locations,
            commits=commits,
            kinds=FileKinds(objects, locations),
            rewriting=rewriting,
            committer=committer,
            dropped_jobs=dropped_jobs,
            metrics=counted,
            limits=limits_of_merges,
            budget=budget,
            clock=clock,
            ids=ids,
        ),
        clustering=clustering,
        rebuilding=Rebuilding(store=store, commits=commits, clustering=clustering),
        dropped_tables=DroppedTables(store, locations, counted, grace_ms=grace_ms),
        metrics=counted,
        limits=limits,
        parallel=parallel,
        clock=clock,
        ids=ids,
    )
