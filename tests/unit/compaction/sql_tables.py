"""Tables that SQL makes and alters: what an engine sends to the catalog of a gateway, without the engine."""

from collections.abc import Callable
from typing import Any

from lakestream.administration.sql_first.declared_columns import DeclaredColumns
from lakestream.administration.sql_first.inserted_rows import InsertedRows
from lakestream.administration.sql_first.sql_topics import SqlTopics
from lakestream.broker.located import LocatedObjects
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.spec.requests import Once, TableChange
from lakestream.contract.registry.registry import Registry
from lakestream.contract.topic.altering.contract import AlteringContracts
from lakestream.contract.topic.following import FollowingTables
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.model.table import STREAMS
from lakestream.model.topic import Topic
from lakestream.world.threads import InlineThreads
from tests.unit.compaction.breaking import Fate, MortalObjects, MortalVerbs
from tests.unit.compaction.site import Site

Json = dict[str, Any]


def gateway(site: Site, fate: Fate | None = None) -> TableCatalog:
    fate = fate or Fate()
    store: Any = MortalVerbs(site.store.tables, fate)
    objects = TableObjects(MortalObjects(site.objects, fate))
    writers = RegisteredWriters(site.store.registry, InlineThreads())
    followers = FollowingTables(store=site.store, threads=InlineThreads())
    registry = Registry(store=site.store.registry, threads=InlineThreads(), followers=followers)
    return TableCatalog(
        store=store,
        objects=objects,
        files=MetadataFiles(objects, ids=site.ids),
        clock=site.clock,
        ids=site.ids,
        delete_topic=site.store.delete_topic,
        topic_planner=SqlTopics(registry, writers),
        rows_as_records=InsertedRows(LocatedObjects(site.objects)),
        columns_of_records=DeclaredColumns(
            store=site.store,
            altering=AlteringContracts(
                store=site.store.registry, registry=registry, writers=writers, threads=InlineThreads()
            ),
        ),
    )


def column(id: int, name: str, type: Any, **more: Any) -> Json:
    return {"id": id, "name": name, "required": False, "type": type, **more}


async def created(site: Site, *columns: Json, name: str = "sales", **properties: str) -> Topic:
    """`properties` with underscores for dots."""
    if STREAMS not in await site.store.tables.namespaces(()):
        await site.store.tables.create_namespace(STREAMS, {})
    request = {
        "name": name,
        "schema": {"type": "struct", "fields": list(columns)},
        "properties": {key.replace("_", "."): value for key, value in properties.items()},
    }
    await gateway(site).create(STREAMS, request)
    (topic,) = (topic for topic in (await site.store.topics()).topics if topic.name == name)
    return topic


async def columns_of(site: Site, topic: Topic) -> dict[str, Json]:
    metadata = await site.metadata(topic)
    (schema,) = (one for one in metadata["schemas"] if one["schema-id"] == metadata["current-schema-id"])
    return {field["name"]: field for field in schema["fields"]}


async def alteration(site: Site, topic: Topic, change: Callable[[list[Json], int], list[Json]]) -> TableChange:
    """What an engine sends for an ALTER TABLE. `change`: from the fields and the first free id to the new fields."""
    metadata = await site.metadata(topic)
    fields = list((await columns_of(site, topic)).values())
    schema = {"type": "struct", "fields": change(fields, metadata["last-column-id"] + 1)}
    return TableChange(
        namespace=STREAMS,
        name=(await site.pointer(topic)).name,
        requirements=[{"type": "assert-current-schema-id", "current-schema-id": metadata["current-schema-id"]}],
        updates=[{"action": "add-schema", "schema": schema}, {"action": "set-current-schema", "schema-id": -1}],
    )


async def alter(
    site: Site,
    topic: Topic,
    change: Callable[[list[Json], int], list[Json]],
    *,
    fate: Fate | None = None,
    once: Once | None = None,
) -> None:
    await gateway(site, fate).commit([await alteration(site, topic, change)], once=once)


def added(name: str, type: Any, /, **more: Any) -> Callable[[list[Json], int], list[Json]]:
    return lambda fields, next_id: [*fields, column(next_id, name, type, **more)]


def changed(which: str, /, **parts: Any) -> Callable[[list[Json], int], list[Json]]:
    return lambda fields, next_id: [{**field, **parts} if field["name"] == which else field for field in fields]


def dropped(name: str) -> Callable[[list[Json], int], list[Json]]:
    return lambda fields, next_id: [field for field in fields if field["name"] != name]
