"""A gateway that dies within an INSERT: the rows are in the table and in the log, or in neither."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakestream.administration.inserted_rows import InsertedRows
from lakestream.administration.sql_topics import SqlTopics
from lakestream.broker.located import LocatedObjects
from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.commits.snapshots import append_files
from lakestream.catalog.files.commit_names import CommitNames
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.spec.requests import TableChange
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.model.table import MAIN_BRANCH, STREAMS
from lakestream.model.table_errors import Guarded, InvalidTableChange
from lakestream.model.topic import Topic
from lakestream.world.threads import InlineThreads
from tests.unit.compaction.breaking import Fate, MortalObjects, MortalVerbs
from tests.unit.compaction.site import Site, run

REQUEST = {
    "name": "sales",
    "schema": {"type": "struct", "fields": [{"id": 1, "name": "n", "required": False, "type": "long"}]},
}
WITH_ID = pa.schema([pa.field("n", pa.int64(), metadata={"PARQUET:field_id": "1"})])
WITHOUT_ID = pa.schema([pa.field("n", pa.int64())])


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


async def created(site: Site) -> Topic:
    await site.store.tables.create_namespace(STREAMS, {})
    await gateway(site, Fate()).create(STREAMS, REQUEST)
    (topic,) = (await site.store.topics()).topics
    return topic


async def insert_of(
    site: Site,
    topic: Topic,
    numbers: list[int],
    *,
    schema: pa.Schema = WITH_ID,
    rows: int | None = None,
    folder: str = "",
) -> TableChange:
    """What an engine sends, after it has written its file, manifest and manifest list."""
    pointer = await site.pointer(topic)
    metadata = await site.metadata(topic)
    objects = TableObjects(site.objects)
    path = f"{folder or metadata['location']}/data/{site.ids.uuid()}.parquet"
    content = io.BytesIO()
    pq.write_table(pa.table({"n": numbers}, schema=schema), content)
    await objects.write(path, content.getvalue())
    file = {
        "content": "data",
        "file-path": path,
        "file-format": "parquet",
        "record-count": len(numbers) if rows is None else rows,
        "file-size-in-bytes": len(content.getvalue()),
    }
    snapshots = SnapshotFiles(objects)
    names = CommitNames(folder=f"{metadata['location']}/metadata", version=99, attempt=site.ids.uuid())
    state = await snapshots.table_state(metadata, [MAIN_BRANCH])
    plan = append_files(
        state, {MAIN_BRANCH: [file]}, summary={}, now_ms=site.clock.wall_ms(), ids=site.ids, names=names
    )
    await snapshots.write(plan.objects)
    head = metadata["refs"][MAIN_BRANCH]["snapshot-id"]
    required = {"type": "assert-ref-snapshot-id", "ref": MAIN_BRANCH, "snapshot-id": head}
    return TableChange(
        namespace=STREAMS, name=pointer.name, requirements=[required], updates=[dict(one) for one in plan.updates]
    )


async def records(site: Site, topic: Topic) -> list[bytes | None]:
    return [row["value"] for row in await site.read(topic.partitions[0])]


async def files_on(site: Site, topic: Topic) -> tuple[set[str], set[str]]:
    return set(await site.files(topic, "main")), set(await site.files(topic, "log"))


def test_a_gateway_killed_at_any_step_of_an_insert_leaves_all_of_it_or_nothing() -> None:
    fate = Fate()

    async def whole(site: Site) -> None:
        topic = await created(site)
        await gateway(site, fate).commit([await insert_of(site, topic, [1, 2])])
        assert await records(site, topic) == [b'{"n":1}', b'{"n":2}']
        main, log = await files_on(site, topic)
        assert main == log and len(main) == 1

    run(whole)
    assert "move_tables" in fate.calls
    outcomes = set()
    for at in range(len(fate.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                topic = await created(site)
                change = await insert_of(site, topic, [1, 2])
                with pytest.raises(BaseException) as died:
                    await gateway(site, Fate(at=at, after=after)).commit([change])
                assert "Killed" in repr(died.value)
                found = await records(site, topic)
                main, log = await files_on(site, topic)
                assert main == log and len(main) == len(found) // 2
                outcomes.add(len(found))
                await gateway(site, Fate()).commit([await insert_of(site, topic, [3])])
                assert (await records(site, topic)) == [*found, b'{"n":3}']

            run(killed)
    assert outcomes == {0, 2}


def test_a_repeated_commit_appends_once() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site)
        change = await insert_of(site, topic, [1])
        await gateway(site, Fate()).commit([change])
        with pytest.raises(Exception, match="main"):
            await gateway(site, Fate()).commit([change])
        assert await records(site, topic) == [b'{"n":1}']

    run(scenario)


def test_files_that_cannot_be_records_are_refused() -> None:
    async def scenario(site: Site) -> None:
        topic = await created(site)
        elsewhere = TableObjects(site.objects).table_location("elsewhere")
        for how, error, reason in (
            ({"schema": WITHOUT_ID}, InvalidTableChange, "without field ids"),
            ({"rows": 5}, InvalidTableChange, "2 rows, and 5 by its manifest"),
            ({"folder": elsewhere}, Guarded, "outside of the table's own folder"),
        ):
            with pytest.raises(error, match=reason):
                await gateway(site, Fate()).commit([await insert_of(site, topic, [1, 2], **how)])  # type: ignore[arg-type]
        assert await records(site, topic) == []

    run(scenario)
