"""Prepares a change to a table: checks it, applies it and writes the next metadata file, without moving the pointer.

found: requirements -> guards -> apply -> next file          not found: requirements -> apply on nothing -> first file
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lakestream.catalog.files.commit_names import version_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import METADATA_PATH, MetadataFile, MetadataFiles
from lakestream.catalog.names.lookup import TableNames
from lakestream.catalog.names.new_topics import NewTopics
from lakestream.catalog.names.permits import ANYTHING, TablePermit
from lakestream.catalog.spec.apply import apply_updates
from lakestream.catalog.spec.creation import empty_table, format_version_of
from lakestream.catalog.spec.requests import TableChange, checked_name
from lakestream.catalog.spec.requirements import check_requirements, is_create
from lakestream.catalog.spec.values import Json, Metadata
from lakestream.catalog.spec.whole.table import check_whole, completed
from lakestream.catalog.strangers.altered_columns import AlteredColumns, AlteringEngines
from lakestream.catalog.strangers.appended_rows import AppendedRows, AppendingEngines
from lakestream.catalog.strangers.guards import check_change, check_heads, log_is_read_only
from lakestream.catalog.strangers.offered_snapshots import OfferedSnapshots
from lakestream.catalog.strangers.topic_columns import with_system_columns
from lakestream.metadata.rules.missing import shown_table, unknown_table
from lakestream.model.access import Operation
from lakestream.model.errors import LakestreamError
from lakestream.model.table import Namespace, PointerMove, TableKind, TablePointer
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids

_ADDITION, _REFERENCE = "add-snapshot", "set-snapshot-ref"
_ABOUT_ROWS = frozenset(
    {
        _ADDITION,
        "set-statistics",
        "remove-statistics",
        "set-partition-statistics",
        "remove-partition-statistics",
    }
)
"""Updates that change the rows of a table, or facts about them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One table's next version, written but not yet current."""

    move: PointerMove
    superfluous: tuple[str, ...]
    """Objects that the table does not need once the pointer has moved."""
    written: tuple[str, ...]
    """Objects that nobody needs if the pointer does not move."""


class Preparing:
    def __init__(
        self,
        *,
        names: TableNames,
        objects: TableObjects,
        files: MetadataFiles,
        clock: Clock,
        ids: Ids,
        new_topics: NewTopics | None,
        appending: AppendingEngines | None,
        altering: AlteringEngines,
    ) -> None:
        """Without `new_topics`, no table makes a topic; without `appending`, none takes rows of engines."""
        self._altering = altering
        self._appending = appending
        self._names = names
        self._new_topics = new_topics
        self._objects = objects
        self._offered = OfferedSnapshots(objects)
        self._files = files
        self._clock = clock
        self._ids = ids

    async def prepare_all(self, changes: Sequence[TableChange], permit: TablePermit = ANYTHING) -> list[Prepared]:
        prepared: list[Prepared] = []
        try:
            for change in changes:
                prepared.append(await self._prepare(change, permit))  # noqa: PERF401 (what is written is known when one fails)
        except LakestreamError:
            await self.abandon(prepared)
            raise
        return prepared

    async def abandon(self, prepared: Sequence[Prepared]) -> None:
        """The pointers have certainly not moved: delete what was written for them."""
        await self._files.delete(tuple(location for one in prepared for location in one.written))

    async def new_topics_in(self, namespace: Namespace) -> NewTopics | None:
        """None if tables that are created in this namespace are ordinary ones. Raises UnknownNamespace."""
        made_here = self._new_topics is not None and await self._new_topics.are_made_in(namespace)
        return self._new_topics if made_here else None

    async def check_free(self, namespace: Namespace, name: str) -> None:
        """Check that a table of this name can be created."""
        if (topics := await self.new_topics_in(namespace)) is not None:
            await topics.check_free(namespace, name)
        else:
            await self._names.check_free(namespace, name)

    async def check_creator(self, namespace: Namespace, name: str, permit: TablePermit) -> None:
        """Raises Denied, UnknownNamespace."""
        topics = await self.new_topics_in(namespace)
        permit.must_create(namespace, name, None if topics is None else name)

    async def creation(
        self, namespace: Namespace, name: str, made: Metadata, permit: TablePermit = ANYTHING
    ) -> Prepared:
        """Writes a new table's first files. In a namespace that streams, the table makes a topic."""
        topics = await self.new_topics_in(namespace)
        permit.must_create(namespace, name, None if topics is None else name)
        if topics is not None:
            new = await topics.prepare(namespace, name, made)
            written = (new.move.pointer.metadata_location, *(one.location for one in new.objects))
            return Prepared(move=new.move, superfluous=(), written=written)
        check_locations(self._objects, made)
        location = await self._files.write_first(made)
        return Prepared(move=creation_of(namespace, name, made, location), superfluous=(), written=(location,))

    async def _prepare(self, change: TableChange, permit: TablePermit) -> Prepared:
        found = await self._names.find(change.namespace, change.name)
        if found is None:
            return await self._prepare_creation(change, permit)
        for operation in operations_of(change.updates):
            permit.must(operation, found[0].namespace, found[0].name, found[0].topic_name)
        if found[1]:
            raise log_is_read_only(shown_table(change.namespace, change.name))
        return await self._prepare_change(found[0], change)

    async def _prepare_creation(self, change: TableChange, permit: TablePermit) -> Prepared:
        if not is_create(change.requirements):
            raise unknown_table(change.namespace, change.name)
        await self.check_creator(change.namespace, checked_name(change.name), permit)
        await self.check_free(change.namespace, checked_name(change.name))
        check_requirements(None, change.requirements)
        now_ms = self._clock.wall_ms()
        empty = empty_table(format_version=format_version_of(change.updates), now_ms=now_ms)
        made = apply_updates(empty, change.updates, now_ms=now_ms)
        made.setdefault("table-uuid", self._ids.uuid())
        made.setdefault("location", self._objects.table_location(made["table-uuid"]))
        check_whole(made)
        return await self.creation(change.namespace, change.name, made, permit)

    async def _prepare_change(self, pointer: TablePointer, change: TableChange) -> Prepared:
        file = await self._files.read(pointer.metadata_location)
        base = replace(file, metadata=completed(file.metadata))
        check_requirements(base.metadata, change.requirements)
        updates: Sequence[Json] = change.updates
        if pointer.kind is TableKind.TOPIC:
            check_change(base.metadata, updates)
            updates = with_system_columns(base.metadata, updates)
        now_ms = self._clock.wall_ms()
        changed = apply_updates(base.metadata, updates, now_ms=now_ms)
        # The pipeline looks after all other kinds, and knows our own store only.
        check_locations(self._objects, changed, in_own_store=pointer.kind is not TableKind.ORDINARY)
        appended, altered = AppendedRows(metadata=changed), AlteredColumns()
        if pointer.kind is TableKind.TOPIC:
            check_heads(base.metadata, changed)
            altered = await self._altering.altered(pointer, base.metadata, changed)
            changed = apply_updates(changed, altered.updates, now_ms=now_ms)
            await self._offered.check(changed, updates, now_ms=now_ms)
            appended = await self._appended(pointer, base, changed, updates, now_ms)
        # A foreign commit to a topic's table is as safe from other engines as our own.
        folder = self._objects.commits_folder(pointer.id) if pointer.kind is TableKind.TOPIC else None
        next = await self._files.write_next(base, appended.metadata, folder=folder)
        move = PointerMove(
            pointer=replace(pointer, metadata_location=next.location),
            expected_location=pointer.metadata_location,
            appended=appended.files,
            partition=appended.partition,
            registered=altered.registered,
        )
        return Prepared(move=move, superfluous=next.superfluous, written=(next.location, *appended.written))

    async def _appended(
        self, pointer: TablePointer, base: MetadataFile, changed: Metadata, updates: Sequence[Json], now_ms: int
    ) -> AppendedRows:
        if self._appending is None:
            return AppendedRows(metadata=changed)
        version = version_of(base.location) + 1
        return await self._appending.applied(pointer, base.metadata, changed, updates, version=version, now_ms=now_ms)


def operations_of(updates: Sequence[Json]) -> list[Operation]:
    """What the updates do: Write for changes of rows, Alter for everything else. A reference that moves to a snapshot
    of this very commit is part of a change of rows."""
    additions = [each.get("snapshot") for each in updates if each.get("action") == _ADDITION]
    added = [each.get("snapshot-id") for each in additions if isinstance(each, dict)]
    of_rows = [_is_about_rows(each, added) for each in updates]
    return [*([Operation.WRITE] if any(of_rows) or not updates else []), *([] if all(of_rows) else [Operation.ALTER])]


def _is_about_rows(update: Json, added: Sequence[object]) -> bool:
    """Of an update that nobody has checked yet: its parts may be anything."""
    if update.get("action") == _REFERENCE:
        return update.get("snapshot-id") in added
    return any(update.get("action") == action for action in _ABOUT_ROWS)


def creation_of(namespace: Namespace, name: str, metadata: Metadata, location: str) -> PointerMove:
    """The pointer move that creates an ordinary table."""
    pointer = TablePointer(
        id=metadata["table-uuid"],
        namespace=namespace,
        name=name,
        kind=TableKind.ORDINARY,
        metadata_location=location,
    )
    return PointerMove(pointer=pointer, expected_location=None)


def check_locations(objects: TableObjects, metadata: Metadata, *, in_own_store: bool = False) -> None:
    """Raises InvalidLocation if the table would lie outside of the allowed folders, or in another table's folder.
    `in_own_store`: the roots that the settings add are not allowed for it."""
    folder = (metadata.get("properties") or {}).get(METADATA_PATH)
    for location in [metadata["location"], *([folder] if folder else [])]:
        if in_own_store:
            objects.key_of(location)
        objects.check_folder(location, metadata["table-uuid"])
