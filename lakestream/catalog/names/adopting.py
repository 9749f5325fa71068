"""Makes an existing table a topic, where it lies: its files stay, and its rows become records or stay rows alone.

    table -> may it be one? -> topic's plan -> its rows as records, or none -> next metadata file -> PointerMove

    from the beginning   `log` is where `main` is: every row of the table is a record, the oldest snapshot's first
    from now on          `log` begins empty: rows that are there stay in `main` alone

The table keeps its uuid, its namespace, its history and its field ids. One transaction changes its kind, creates its
topic and gives its files offsets, so there is never a part of that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from lakestream.catalog.commits.log_spec import UNPARTITIONED, log_spec_id
from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.commits.snapshots import append_files, ref_update
from lakestream.catalog.commits.table_state import head_of
from lakestream.catalog.files.commit_names import CommitNames, version_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFile, MetadataFiles
from lakestream.catalog.names.lookup import TableNames
from lakestream.catalog.names.new_topics import AskedTable, TopicPlan, TopicPlanner
from lakestream.catalog.names.permits import TablePermit
from lakestream.catalog.names.preparing import Prepared
from lakestream.catalog.spec.apply import apply_updates
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.catalog.spec.whole.table import completed
from lakestream.catalog.strangers.appended_rows import AppendingEngines, FoundFile
from lakestream.catalog.strangers.guards import CATALOGS_PROPERTIES
from lakestream.catalog.topic.topic_table import TOPIC_PROPERTIES, all_names, table_name
from lakestream.metadata.rules.missing import shown_table, unknown_table
from lakestream.model.access import Operation
from lakestream.model.file_compression import UnknownCompression, compression_of
from lakestream.model.table import (
    LOG_BRANCH,
    MAIN_BRANCH,
    OWN_BRANCHES,
    Namespace,
    PointerMove,
    TableKind,
    TablePointer,
)
from lakestream.model.table_errors import Guarded, InvalidTableChange, TableExists
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids

_OWN_PREFIX = "lakestream."
_FORMAT_VERSION_MIN = 2
_RESERVED_IDS_BEGIN = 2_000_000_000
"""Ids of system columns begin here."""


class AdoptedFrom(StrEnum):
    """Which rows of the table become records."""

    BEGINNING = "beginning"
    NOW = "now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """The request to make a table a topic. `properties` are of the topic, with the names of CREATE TABLE."""

    namespace: Namespace
    name: str
    rows: AdoptedFrom
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedTable:
    """What an adoption makes, or would make."""

    partitions: int
    config: Mapping[str, str]
    files: int
    records: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A table that can become a topic."""

    pointer: TablePointer
    file: MetadataFile
    base: Metadata
    """The completed metadata, without properties of a former topic."""
    asked: AskedTable
    plan: TopicPlan
    rows: Sequence[FoundFile]
    """The files whose rows become records."""

    @property
    def summary(self) -> AdoptedTable:
        return AdoptedTable(
            partitions=self.plan.spec.partitions,
            config=self.plan.spec.config,
            files=len(self.rows),
            records=sum(file.rows for file in self.rows),
            bytes=sum(file.bytes for file in self.rows),
        )


class Adopting:
    def __init__(
        self,
        *,
        names: TableNames,
        objects: TableObjects,
        files: MetadataFiles,
        planner: TopicPlanner,
        appending: AppendingEngines,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._names = names
        self._objects = objects
        self._files = files
        self._snapshots = SnapshotFiles(objects)
        self._planner = planner
        self._appending = appending
        self._clock = clock
        self._ids = ids

    async def planned(self, asked: Adoption, permit: TablePermit) -> AdoptedTable:
        """What would be made. Reads manifests and no data file; else raises what `prepare` raises."""
        return (await self._found(asked, permit)).summary

    async def prepare(self, asked: Adoption, permit: TablePermit) -> tuple[Prepared, AdoptedTable]:
        """Raises UnknownTable, TableExists, Guarded, InvalidTableChange, DamagedTable, and errors about topics."""
        found = await self._found(asked, permit)
        await self._appending.check(found.pointer, found.base, found.rows)
        plan = await self._planner.plan(found.asked)  # registers a schema, so it comes after all that can be refused
        now_ms = self._clock.wall_ms()
        base = _as_topics_table(found.base, plan, now_ms)
        appended = await self._appending.as_records(found.pointer, base, found.rows) if found.rows else ()
        changed, objects = await self._with_log(found.pointer, found.file, base, asked.rows, now_ms)
        folder = self._objects.commits_folder(found.pointer.id)
        next = await self._files.write_next(replace(found.file, metadata=found.base), changed, folder=folder)
        pointer = replace(found.pointer, metadata_location=next.location, kind=TableKind.TOPIC, topic=found.asked.topic)
        move = PointerMove(
            pointer=pointer,
            expected_location=found.pointer.metadata_location,
            new_topic=plan.spec,
            appended=appended,
        )
        prepared = Prepared(move=move, superfluous=next.superfluous, written=(next.location, *objects))
        return prepared, found.summary

    async def _found(self, asked: Adoption, permit: TablePermit) -> _Found:
        shown = shown_table(asked.namespace, asked.name)
        pointer = await self._ordinary(asked.namespace, asked.name, permit)
        file = await self._files.read_present(pointer.metadata_location)
        whole = completed(file.metadata)
        self._check(whole, pointer, shown)
        base = _without_own_properties(whole)
        table = AskedTable(
            namespace=asked.namespace,
            name=asked.name,
            topic=self._ids.topic_id(),
            schema=by_id(base["schemas"], "schema-id", base["current-schema-id"]) or {"fields": []},
            properties=asked.properties,
            next_column_id=base["last-column-id"] + 1,
        )
        plan = await self._planner.check(table)
        if any(one["id"] >= _RESERVED_IDS_BEGIN for one in plan.fields):
            raise InvalidTableChange(
                "an adopted table shows no system columns: leave out 'lakestream.table.system-columns'"
            )
        if asked.rows is AdoptedFrom.BEGINNING:
            rows = await self._appending.present(base)
        else:
            rows = []
            await self._check_deletes(base)
        return _Found(pointer=pointer, file=file, base=base, asked=table, plan=plan, rows=rows)

    async def _ordinary(self, namespace: Namespace, name: str, permit: TablePermit) -> TablePointer:
        shown = shown_table(namespace, name)
        if (found := await self._names.find(namespace, name, unlisted=True)) is None:
            raise unknown_table(namespace, name)
        pointer, branch = found
        permit.must(Operation.ALTER, namespace, pointer.name, pointer.topic_name)
        permit.must_create(namespace, name, name)
        if branch or pointer.kind is TableKind.TOPIC:
            raise TableExists(f"{shown} belongs to a topic already: there is nothing to adopt")
        if pointer.kind is not TableKind.ORDINARY:
            raise Guarded(
                f"{shown} outlived its topic, and what that topic left is still being cleared away: try again after "
                "the grace (wal.grace_ms)"
            )
        if table_name(name, ()) != name:
            raise InvalidTableChange(
                f"{shown} would be a topic, and '{name}' cannot be the name of both: rename the table first, with "
                "lower-case letters, digits and _"
            )
        for one in all_names(name)[1:]:
            if await self._names.taken_by(namespace, one) is not None:
                raise TableExists(f"{shown_table(namespace, one)} would show a part of the topic: rename it first")
        return pointer

    def _check(self, metadata: Metadata, pointer: TablePointer, shown: str) -> None:
        """Raises Guarded, InvalidTableChange with the reason why the table cannot be a topic's."""
        if metadata["format-version"] < _FORMAT_VERSION_MIN:
            raise InvalidTableChange(
                f"{shown} has format version {metadata['format-version']}, and a topic's table at least "
                f"{_FORMAT_VERSION_MIN}: ALTER TABLE {shown} SET TBLPROPERTIES ('format-version'='2')"
            )
        if metadata["location"].rstrip("/") != self._objects.table_location(pointer.id):
            raise Guarded(
                f"{shown} lies at {metadata['location']}, and a topic's table lies in a folder of its own below "
                f"{self._objects.table_location(pointer.id)}: make a new table of it, by CREATE TABLE ... AS SELECT"
            )
        if used := [name for name in OWN_BRANCHES if name in metadata["refs"]]:
            raise Guarded(
                f"{shown} has a branch '{used[0]}', and a topic needs this name for a branch of its own: drop it first"
            )
        if metadata["last-column-id"] >= _RESERVED_IDS_BEGIN:
            raise Guarded(
                f"{shown} was the table of a topic before, and has columns with ids that topics keep for themselves: "
                "make a new table of it, by CREATE TABLE ... AS SELECT"
            )
        if used := [name for name in CATALOGS_PROPERTIES if name in (metadata.get("properties") or {})]:
            raise Guarded(f"{shown} has the property '{used[0]}', which a topic's table cannot have: unset it first")
        try:
            compression_of({**TOPIC_PROPERTIES, **(metadata.get("properties") or {})})
        except UnknownCompression as error:
            raise InvalidTableChange(str(error)) from None

    async def _check_deletes(self, metadata: Metadata) -> None:
        """Raises Guarded if the table has deletes that no engine may add to a topic's table."""
        if await self._snapshots.deletes_by_value(metadata, MAIN_BRANCH):
            raise Guarded(
                "the table has equality deletes, which a topic's table cannot have: rewrite the files first (Spark: "
                "CALL system.rewrite_data_files(table => '...', options => map('delete-file-threshold', '1')))"
            )

    async def _with_log(
        self, pointer: TablePointer, file: MetadataFile, base: Metadata, rows: AdoptedFrom, now_ms: int
    ) -> tuple[Metadata, tuple[str, ...]]:
        """The table with its branch `log`, and the objects written for that."""
        head = head_of(base, MAIN_BRANCH)
        if rows is AdoptedFrom.BEGINNING and head is not None:
            return apply_updates(base, [ref_update(base, LOG_BRANCH, head)], now_ms=now_ms), ()
        # Some readers treat a table without a snapshot differently, so `main` gets one as well.
        branches = [LOG_BRANCH] if head is not None else [LOG_BRANCH, MAIN_BRANCH]
        names = CommitNames(
            folder=self._objects.commits_folder(pointer.id),
            version=version_of(file.location) + 1,
            attempt=self._ids.uuid(),
        )
        state = await self._snapshots.table_state(base, [LOG_BRANCH])
        plan = append_files(state, dict.fromkeys(branches, ()), summary={}, now_ms=now_ms, ids=self._ids, names=names)
        await self._snapshots.write(plan.objects)
        return apply_updates(base, plan.updates, now_ms=now_ms), tuple(new.location for new in plan.objects)


def _without_own_properties(metadata: Metadata) -> Metadata:
    """What a former topic left says nothing about the new one."""
    kept = {name: value for name, value in (metadata.get("properties") or {}).items() if not _is_own(name)}
    return {**metadata, "properties": kept}


def _is_own(name: str) -> bool:
    return name.startswith(_OWN_PREFIX)


def _as_topics_table(base: Metadata, plan: TopicPlan, now_ms: int) -> Metadata:
    """The table's own properties stay, but for those that a topic's table must have."""
    updates: list[Json] = [
        {"action": "set-properties", "updates": {**TOPIC_PROPERTIES, **base["properties"], **plan.properties}}
    ]
    if log_spec_id(base) is None:
        updates.append({"action": "add-spec", "spec": UNPARTITIONED})
    changed = apply_updates(base, updates, now_ms=now_ms)
    return {**changed, "last-column-id": max(changed["last-column-id"], plan.last_column_id)}
