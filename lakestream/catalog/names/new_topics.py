"""Tables that make topics: CREATE TABLE in a namespace that streams creates a topic and its table in one transaction.

    create        fresh ids -> plan -> first files -> PointerMove with the new topic
    stage-create  fresh ids -> check -> metadata that is handed out; its commit brings them back, and then as above,
                  with the first rows (CREATE TABLE ... AS SELECT) as the topic's first records

The namespace `streams` streams, and so does every namespace with the property `lakestream.streams=true`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.lookup import TableNames
from lakestream.catalog.spec.apply import apply_updates
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.catalog.strangers.appended_rows import AppendingEngines
from lakestream.catalog.strangers.guards import check_change
from lakestream.catalog.strangers.offered_snapshots import OfferedSnapshots
from lakestream.catalog.topic.topic_commits import PreparedCommit, TopicCommits
from lakestream.catalog.topic.topic_table import (
    TOPIC_ID,
    TopicTableSpec,
    table_id_of,
    table_name,
    topic_table_without_snapshot,
)
from lakestream.metadata.rules.missing import shown_table
from lakestream.metadata.table_store import TableStore
from lakestream.model.table import (
    LOG_BRANCH,
    MAIN_BRANCH,
    STREAMS,
    Namespace,
    PointerMove,
    TableKind,
    TablePointer,
)
from lakestream.model.table_errors import Guarded, InvalidTableChange
from lakestream.model.topic import TopicId, TopicSpec
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids

STREAMS_PROPERTY = "lakestream.streams"
"""A namespace's property: whether tables that are created in it are topics."""
_TRUTHS = ("true", "false")
_TOPIC_ID_BYTES = 16
_FORMAT_VERSION_MIN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTable:
    """A table that someone creates to be a topic."""

    namespace: Namespace
    name: str
    topic: TopicId
    schema: Json
    properties: Mapping[str, str]
    next_column_id: int = 1
    """Ids below it were given to columns of the table, even if it has them no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPlan:
    spec: TopicSpec
    fields: list[Json]
    last_column_id: int
    properties: Mapping[str, str]
    """Of the table."""


class TopicPlanner(Protocol):
    """Decides which topic a table makes. Raises InvalidTableChange, and errors about topics and schemas."""

    async def check(self, asked: AskedTable) -> TopicPlan:
        """The plan, without the contract: nothing is changed."""
        ...

    async def plan(self, asked: AskedTable) -> TopicPlan:
        """The plan; the schema of the topic's values is registered."""
        ...


class NewTopics:
    def __init__(
        self,
        *,
        store: TableStore,
        names: TableNames,
        objects: TableObjects,
        commits: TopicCommits,
        planner: TopicPlanner,
        files: MetadataFiles,
        appending: AppendingEngines | None,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._files = files
        self._appending = appending
        self._offered = OfferedSnapshots(objects)
        self._store = store
        self._names = names
        self._objects = objects
        self._commits = commits
        self._planner = planner
        self._clock = clock
        self._ids = ids

    async def are_made_in(self, namespace: Namespace) -> bool:
        """Raises UnknownNamespace, InvalidTableChange."""
        asked = (await self._store.namespace_properties(namespace)).get(STREAMS_PROPERTY)
        if asked is None:
            return namespace == STREAMS
        if asked.lower() not in _TRUTHS:
            raise InvalidTableChange(f"the namespace's property '{STREAMS_PROPERTY}' must be true or false")
        return asked.lower() == "true"

    async def check_free(self, namespace: Namespace, name: str) -> None:
        """Check that a topic and its table can have this name. Raises TableExists, InvalidTableChange."""
        if table_name(name, ()) != name:
            raise InvalidTableChange(
                f"{shown_table(namespace, name)} would be a topic, and '{name}' cannot be the name of both: use "
                "lower-case letters, digits and _, and no name of Iceberg's own tables (files, snapshots ...)"
            )
        await self._names.check_free_for_topic(namespace, name)

    async def staged(self, namespace: Namespace, name: str, made: Metadata) -> Metadata:
        """The metadata that an engine writes its first files by. `made`: the table as if it were an ordinary one."""
        topic = self._ids.topic_id()
        plan = await self._planner.check(_asked(namespace, name, topic, made))
        uuid = table_id_of(topic)
        location = self._objects.table_location(uuid)
        properties = {**_properties(made), TOPIC_ID: topic.hex()}
        spec = _table_spec(plan, made, properties)
        return topic_table_without_snapshot(spec, uuid=uuid, location=location, now_ms=self._clock.wall_ms())

    async def prepare(self, namespace: Namespace, name: str, made: Metadata) -> PreparedCommit:
        """Topic and table, written but not yet there. `made`: the table as if it were an ordinary one."""
        topic = _staged_topic(made) or self._ids.topic_id()
        plan = await self._planner.plan(_asked(namespace, name, topic, made))
        asked = _table_spec(plan, made, plan.properties)
        if made.get("snapshots"):
            return await self._filled(namespace, name, plan.spec, asked, made)
        return await self._commits.create(topic, namespace, name, asked, new_topic=plan.spec)

    async def _filled(
        self, namespace: Namespace, name: str, topic: TopicSpec, asked: TopicTableSpec, made: Metadata
    ) -> PreparedCommit:
        """The table of CREATE TABLE ... AS SELECT: its first rows are records of the topic that it makes."""
        if self._appending is None:
            raise Guarded("this catalog takes no rows for topics: create the table without rows")
        uuid, now_ms = table_id_of(topic.id), self._clock.wall_ms()
        location = self._objects.table_location(uuid)
        empty = topic_table_without_snapshot(asked, uuid=uuid, location=location, now_ms=now_ms)
        updates = _first_snapshots(made)
        check_change(empty, updates)
        changed = apply_updates(empty, updates, now_ms=now_ms)
        await self._offered.check(changed, updates, now_ms=now_ms)
        pointer = TablePointer(
            id=uuid, namespace=namespace, name=name, kind=TableKind.TOPIC, metadata_location="", topic=topic.id
        )
        appended = await self._appending.applied(pointer, empty, changed, updates, version=0, now_ms=now_ms)
        if LOG_BRANCH not in appended.metadata["refs"]:
            raise Guarded(f"{shown_table(namespace, name)} is the table of a topic: its first rows must be appended")
        file = await self._files.write_first(appended.metadata, folder=self._objects.commits_folder(uuid))
        move = PointerMove(
            pointer=replace(pointer, metadata_location=file),
            expected_location=None,
            new_topic=topic,
            appended=appended.files,
            partition=appended.partition,
        )
        return PreparedCommit(move=move, metadata=appended.metadata, heads={}, objects=(), superfluous=())


def _first_snapshots(made: Metadata) -> list[Json]:
    head = (made["refs"].get(MAIN_BRANCH) or {}).get("snapshot-id")
    if head is None:
        raise InvalidTableChange("the table's first snapshots are on no branch: put them on 'main'")
    added: list[Json] = [{"action": "add-snapshot", "snapshot": snapshot} for snapshot in made["snapshots"]]
    moved = {"action": "set-snapshot-ref", "ref-name": MAIN_BRANCH, "type": "branch", "snapshot-id": head}
    return [*added, moved]


def _asked(namespace: Namespace, name: str, topic: TopicId, made: Metadata) -> AskedTable:
    schema = by_id(made["schemas"], "schema-id", made["current-schema-id"]) or {"fields": []}
    properties = {key: value for key, value in _properties(made).items() if key != TOPIC_ID}
    return AskedTable(namespace=namespace, name=name, topic=topic, schema=schema, properties=properties)


def _properties(made: Metadata) -> dict[str, str]:
    return dict(made.get("properties") or {})


def _staged_topic(made: Metadata) -> TopicId | None:
    """The topic's id that a staged table was given; None if the table was not staged."""
    given = _properties(made).get(TOPIC_ID)
    if given is None:
        return None
    try:
        topic = bytes.fromhex(given)
    except ValueError:
        topic = b""
    if len(topic) != _TOPIC_ID_BYTES or made.get("table-uuid") != table_id_of(topic):
        raise InvalidTableChange(f"'{TOPIC_ID}' is set by Lakestream: leave it out")
    return topic


def _table_spec(plan: TopicPlan, made: Metadata, properties: Mapping[str, str]) -> TopicTableSpec:
    if made["format-version"] < _FORMAT_VERSION_MIN:
        raise InvalidTableChange(f"a topic's table has at least format version {_FORMAT_VERSION_MIN}: use 2 or 3")
    return TopicTableSpec(
        fields=plan.fields,
        last_column_id=plan.last_column_id,
        properties=properties,
        format_version=made["format-version"],
        layout=[*_partitioning(made), *_ordering(made)],
    )


def _partitioning(made: Metadata) -> list[Json]:
    """The partition spec that was asked for. It is another than the log's, which is unpartitioned."""
    spec = by_id(made["partition-specs"], "spec-id", made["default-spec-id"]) or {"fields": []}
    if not spec["fields"]:
        return []
    return [{"action": "add-spec", "spec": {"fields": spec["fields"]}}, {"action": "set-default-spec", "spec-id": -1}]


def _ordering(made: Metadata) -> list[Json]:
    order = by_id(made["sort-orders"], "order-id", made["default-sort-order-id"]) or {"fields": []}
    if not order["fields"]:
        return []
    added = {"action": "add-sort-order", "sort-order": {"fields": order["fields"]}}
    return [added, {"action": "set-default-sort-order", "sort-order-id": -1}]
