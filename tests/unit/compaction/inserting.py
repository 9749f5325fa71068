"""A gateway that may die, and what an engine sends it after it has written files, a manifest and a manifest list."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakestream.administration.sql_first.inserted_rows import InsertedRows
from lakestream.administration.sql_first.sql_topics import SqlTopics
from lakestream.broker.located import LocatedObjects
from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.commits.snapshots import append_files
from lakestream.catalog.commits.table_state import head_of
from lakestream.catalog.files.commit_names import CommitNames
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.spec.requests import TableChange
from lakestream.catalog.spec.values import Json
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.model.table import MAIN_BRANCH, Namespace
from lakestream.world.threads import InlineThreads
from tests.unit.compaction.breaking import Fate, MortalObjects, MortalVerbs
from tests.unit.compaction.site import Site

WITH_ID = pa.schema([pa.field("n", pa.int64(), metadata={"PARQUET:field_id": "1"})])


def gateway(site: Site, fate: Fate) -> TableCatalog:
    store: Any = MortalVerbs(site.store.tables, fate)
    objects = TableObjects(MortalObjects(site.objects, fate))
    return TableCatalog(
        store=store,
        objects=objects,
        files=MetadataFiles(objects, ids=site.ids),
        clock=site.clock,
        ids=site.ids,
        delete_topic=site.store.delete_topic,
        topic_planner=SqlTopics(site.registry, RegisteredWriters(site.store.registry, InlineThreads())),
        rows_as_records=InsertedRows(LocatedObjects(site.objects)),
    )


def numbers(*values: int | None, schema: pa.Schema = WITH_ID) -> pa.Table:
    return pa.table({"n": list(values)}, schema=schema)


async def insert_into(
    site: Site,
    namespace: Namespace,
    name: str,
    *tables: pa.Table,
    rows: int | None = None,
    folder: str = "",
    partition: list[Json] | None = None,
) -> TableChange:
    """A file for each of `tables`. `rows`: the number of rows that the manifest names, in place of the true one."""
    metadata = (await gateway(site, Fate()).load(namespace, name)).file.metadata
    objects = TableObjects(site.objects)
    files = []
    contents = {id(table): _parquet(table) for table in tables}
    for table in tables:
        path = f"{folder or metadata['location']}/data/{site.ids.uuid()}.parquet"
        content = contents[id(table)]
        await objects.write(path, content)
        files.append(
            {
                "spec-id": metadata["default-spec-id"],
                "partition": partition or [],
                "content": "data",
                "file-path": path,
                "file-format": "parquet",
                "record-count": table.num_rows if rows is None else rows,
                "file-size-in-bytes": len(content),
            }
        )
    snapshots = SnapshotFiles(objects)
    names = CommitNames(folder=f"{metadata['location']}/metadata", version=99, attempt=site.ids.uuid())
    state = await snapshots.table_state(metadata, [MAIN_BRANCH])
    plan = append_files(state, {MAIN_BRANCH: files}, summary={}, now_ms=site.clock.wall_ms(), ids=site.ids, names=names)
    await snapshots.write(plan.objects)
    required = {"type": "assert-ref-snapshot-id", "ref": MAIN_BRANCH, "snapshot-id": head_of(metadata, MAIN_BRANCH)}
    return TableChange(namespace=namespace, name=name, requirements=[required], updates=[dict(i) for i in plan.updates])


def _parquet(table: pa.Table) -> bytes:
    content = io.BytesIO()
    pq.write_table(table, content)
    return content.getvalue()
