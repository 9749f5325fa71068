"""The pipeline put together: `build_pipeline` is the one place that knows how its parts fit, in processes and tests."""

from collections.abc import Mapping

from lakestream.catalog.locations import TableObjects
from lakestream.catalog.metadata_file import MetadataFiles
from lakestream.catalog.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.table.compaction.commit import Committer
from lakestream.table.compaction.plan import PlanLimits
from lakestream.table.left_behind import LeftBehind
from lakestream.table.pipeline import Pipeline, Rewriter, WorkersObjects
from lakestream.table.topic_tables import TopicTables
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.objects.store import ObjectStore


def build_pipeline(
    *,
    store: MetadataStore,
    objects: ObjectStore,
    objects_options: Mapping[str, str],
    rewriter: Rewriter,
    limits: PlanLimits,
    clock: Clock,
    ids: Ids,
) -> Pipeline:
    locations = TableObjects(objects)
    files = MetadataFiles(locations, ids=ids)
    commits = TopicCommits(objects=locations, files=files, clock=clock, ids=ids)
    return Pipeline(
        store=store,
        locations=locations,
        tables=TopicTables(store, commits),
        rewriter=rewriter,
        committer=Committer(store=store, objects=objects, locations=locations, commits=commits, clock=clock),
        left_behind=LeftBehind(store, locations),
        workers_objects=WorkersObjects(url=objects.url, options=objects_options),
        limits=limits,
        clock=clock,
        ids=ids,
    )
