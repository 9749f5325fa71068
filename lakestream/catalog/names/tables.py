"""Tables by name: load, create, commit, register, rename, drop.

    commit: pointer -> metadata -> requirements -> guards -> apply -> write the next file -> move the pointer

The next file is written before the pointer moves. So a crash leaves a file that nobody knows, never a torn table. If
someone else was faster, the change is applied again to their version, as long as its requirements still hold.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import structlog

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFile, MetadataFiles, encode_metadata
from lakestream.catalog.names.adopting import AdoptedTable, Adopting, Adoption
from lakestream.catalog.names.lookup import TableNames
from lakestream.catalog.names.new_topics import NewTopics, TopicPlanner
from lakestream.catalog.names.permits import ANYTHING, TablePermit
from lakestream.catalog.names.preparing import Prepared, Preparing, check_locations, creation_of
from lakestream.catalog.spec.creation import new_table
from lakestream.catalog.spec.requests import Once, TableChange, checked_name, located, receipt_of
from lakestream.catalog.spec.values import Json, Metadata, optional, wanted
from lakestream.catalog.spec.whole.table import check_offered
from lakestream.catalog.strangers.altered_columns import AlteringEngines, ColumnsOfRecords
from lakestream.catalog.strangers.appended_rows import AppendingEngines, RowsAsRecords
from lakestream.catalog.strangers.guards import DROPPABLE, check_drop, log_is_read_only
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.catalog.topic.topic_table import branch_table, suffix_of
from lakestream.metadata.rules.missing import shown_table, unknown_table
from lakestream.metadata.table_store import TableStore
from lakestream.model.access import Operation
from lakestream.model.errors import Conflict, LakestreamError, UnknownTopicId
from lakestream.model.table import LOG_BRANCH, Namespace, TableKind, TablePointer
from lakestream.model.table_errors import CommitConflict, Guarded, InvalidTableChange, TableExists
from lakestream.model.topic import TopicId
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids

log = structlog.get_logger(__name__)

COMMIT_ATTEMPTS_MAX = 4
"""How often a change is applied again after someone else committed, before the client is told to retry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTable:
    pointer: TablePointer
    file: MetadataFile
    branch: str | None
    """The branch in the name `<table>__<branch>`. `file` is then derived from the pointer's own file."""


BranchFields = Callable[[Metadata], Sequence[Json]]
"""From a topic's table to the columns that its branches show."""


class TableCatalog:
    def __init__(
        self,
        *,
        store: TableStore,
        objects: TableObjects,
        files: MetadataFiles,
        clock: Clock,
        ids: Ids,
        delete_topic: Callable[[TopicId], Awaitable[None]],
        branch_fields: BranchFields = lambda metadata: (),
        topic_planner: TopicPlanner | None = None,
        rows_as_records: RowsAsRecords | None = None,
        columns_of_records: ColumnsOfRecords | None = None,
    ) -> None:
        """`branch_fields` are the extra columns of `<table>__log` and `<table>__quarantine`. `topic_planner` decides
        which topic a new table makes; without it no table makes one. `rows_as_records` is for rows that engines
        append to a topic's table; without it such tables take none. `columns_of_records` is for changes to their
        columns; without it there are none."""
        self._store = store
        self._objects = objects
        self._files = files
        self._clock = clock
        self._ids = ids
        self._delete_topic = delete_topic
        self._branch_fields = branch_fields
        self._names = TableNames(store)
        appending = None if rows_as_records is None else AppendingEngines(objects, rows_as_records, ids)
        new_topics = None
        if topic_planner is not None:
            new_topics = NewTopics(
                store=store,
                names=self._names,
                objects=objects,
                commits=TopicCommits(objects=objects, files=files, clock=clock, ids=ids),
                planner=topic_planner,
                files=files,
                appending=appending,
                clock=clock,
                ids=ids,
            )
        self._adopting = None
        if topic_planner is not None and appending is not None:
            self._adopting = Adopting(
                names=self._names,
                objects=objects,
                files=files,
                planner=topic_planner,
                appending=appending,
                clock=clock,
                ids=ids,
            )
        self._preparing = Preparing(
            names=self._names,
            objects=objects,
            files=files,
            clock=clock,
            ids=ids,
            new_topics=new_topics,
            appending=appending,
            altering=AlteringEngines(columns_of_records),
        )

    # --- reading -------------------------------------------------------------------------------

    async def load(
        self, namespace: Namespace, name: str, *, unlisted: bool = False, permit: TablePermit = ANYTHING
    ) -> LoadedTable:
        """Raises UnknownTable, Denied. `unlisted` includes tables that the catalog does not show."""
        pointer, branch = await self._found(namespace, name, permit, Operation.READ, unlisted=unlisted)
        # The catalog alone deletes the metadata files of topics. Of others it must look whether they are still there.
        is_topic = pointer.kind is TableKind.TOPIC
        file = await (self._files.read if is_topic else self._files.read_present)(pointer.metadata_location)
        return LoadedTable(pointer=pointer, file=self._of_branch(file, branch) if branch else file, branch=branch)

    async def names(self, namespace: Namespace, *, permit: TablePermit = ANYTHING) -> list[str]:
        """Sorted by name, including the logs of topics. Raises UnknownNamespace."""
        tables = [one for one in await self._store.tables(namespace) if one.kind is not TableKind.VIEW]
        found = [one for one in tables if one.listed and permit.shows(namespace, one.name, one.topic)]
        logs = [one.name + suffix_of(LOG_BRANCH) for one in found if one.kind is TableKind.TOPIC]
        return sorted([*(one.name for one in found), *logs])

    async def check_exists(
        self, namespace: Namespace, name: str, operation: Operation, *, permit: TablePermit = ANYTHING
    ) -> None:
        """Raises UnknownTable, and Denied without the right to the operation."""
        await self._found(namespace, name, permit, operation)

    # --- changing ------------------------------------------------------------------------------

    async def planned(self, namespace: Namespace, request: Json, *, permit: TablePermit = ANYTHING) -> Metadata:
        """The initial metadata that the table would have. Raises what `create` raises for the request."""
        name = checked_name(request.get("name"))
        await self._preparing.check_creator(namespace, name, permit)
        await self._preparing.check_free(namespace, name)
        metadata = await self._new(namespace, request)
        topics = await self._preparing.new_topics_in(namespace)
        return metadata if topics is None else await topics.staged(namespace, name, metadata)

    async def stage(self, namespace: Namespace, request: Json, *, permit: TablePermit = ANYTHING) -> Metadata:
        """The initial metadata of a table. Nothing is kept: the commit that creates the table contains it."""
        metadata = await self.planned(namespace, request, permit=permit)
        await self._objects.make_folder(f"{metadata['location']}/metadata")
        return metadata

    async def create(
        self, namespace: Namespace, request: Json, *, once: Once | None = None, permit: TablePermit = ANYTHING
    ) -> MetadataFile:
        """Raises TableExists, TopicExists, UnknownNamespace, InvalidLocation, InvalidTableChange, Denied."""
        name = checked_name(request.get("name"))
        await self._preparing.check_creator(namespace, name, permit)
        await self._preparing.check_free(namespace, name)
        prepared = await self._preparing.creation(namespace, name, await self._new(namespace, request), permit)
        location = prepared.move.pointer.metadata_location
        try:
            receipt = receipt_of(once, located([location], namespace, name))
            await self._store.move_tables([prepared.move], receipt=receipt)
        except Conflict:
            await self._preparing.abandon([prepared])
            raise
        return await self._files.read(location)

    async def register(
        self, namespace: Namespace, request: Json, *, once: Once | None = None, permit: TablePermit = ANYTHING
    ) -> MetadataFile:
        """Add a table that another system's metadata file describes."""
        name, location = checked_name(request.get("name")), wanted(request, "metadata-location", str)
        permit.must_create(namespace, name, None)
        file = await self._files.read_offered(location)
        check_offered(file.metadata)
        uuid = file.metadata["table-uuid"]
        known = await self._names.find(namespace, name)
        await self._check_only(uuid, namespace, name)
        if known is None or not optional(request, "overwrite", bool):
            await self._names.check_free(namespace, name)
            made = creation_of(namespace, name, file.metadata, location)
            await self._store.move_tables([made], receipt=receipt_of(once, located([location], namespace, name)))
            return file
        permit.must(Operation.DELETE, namespace, name, known[0].topic_name)
        self._refuse_topic(known, namespace, name)
        # Whatever kind it was before: its versions may go back with this, and then do not identify leftovers.
        pointer = replace(known[0], id=uuid, metadata_location=location, kind=TableKind.ORDINARY)
        receipt = receipt_of(once, located([location], namespace, name))
        await self._store.replace_table(known[0], pointer, receipt=receipt)
        return file

    async def commit(
        self, changes: Sequence[TableChange], *, once: Once | None = None, permit: TablePermit = ANYTHING
    ) -> list[MetadataFile]:
        """Change several tables, all or none. Raises CommitConflict, TableExists, Guarded, InvalidTableChange,
        Denied."""
        if not changes:
            return []
        if len({(change.namespace, change.name) for change in changes}) != len(changes):
            raise InvalidTableChange("a transaction changes each table once: put all its updates together")
        for attempt in range(1, COMMIT_ATTEMPTS_MAX + 1):
            prepared = await self._preparing.prepare_all(changes, permit)
            moves = [one.move for one in prepared]
            locations = [move.pointer.metadata_location for move in moves]
            first = changes[0]
            receipt = receipt_of(once, located(locations, first.namespace, first.name))
            try:
                await self._store.move_tables(moves, receipt=receipt)
            except Conflict as error:
                await self._preparing.abandon(prepared)
                if attempt == COMMIT_ATTEMPTS_MAX or not isinstance(error, CommitConflict):
                    raise
                continue
            for move in moves:
                if move.expected_location is not None:
                    self._files.forget(move.expected_location)
            await self._drop_superfluous(prepared)
            break
        return [await self._files.read(location) for location in locations]

    async def planned_adoption(self, asked: Adoption, *, permit: TablePermit = ANYTHING) -> AdoptedTable:
        """What `adopt` would make. It may still be refused for what is in single files."""
        return await self._adopter().planned(asked, permit)

    async def adopt(self, asked: Adoption, *, permit: TablePermit = ANYTHING) -> AdoptedTable:
        """Make an ordinary table the table of a new topic. Raises what `Adopting.prepare` raises, and TopicExists."""
        for attempt in range(1, COMMIT_ATTEMPTS_MAX + 1):
            prepared, adopted = await self._adopter().prepare(asked, permit)
            try:
                await self._store.move_tables([prepared.move])
            except Conflict as error:
                await self._preparing.abandon([prepared])
                if attempt == COMMIT_ATTEMPTS_MAX or not isinstance(error, CommitConflict):
                    raise
                continue
            if prepared.move.expected_location is not None:
                self._files.forget(prepared.move.expected_location)
            await self._drop_superfluous([prepared])
            break
        return adopted

    async def rename(
        self,
        source: tuple[Namespace, str],
        target: tuple[Namespace, str],
        *,
        once: Once | None = None,
        permit: TablePermit = ANYTHING,
    ) -> None:
        """Only the table is renamed; its topic keeps its name."""
        permit.must_create(*target, None)
        pointer, branch = await self._found(*source, permit, Operation.ALTER)
        if branch:
            raise log_is_read_only(shown_table(*source))
        namespace, name = target[0], checked_name(target[1])
        await self._names.check_rename(source, (namespace, name))
        if pointer.kind is not TableKind.TOPIC:
            await self._names.check_free(namespace, name)
        else:
            await self._names.check_free_for_topic(namespace, name)
        await self._store.rename_table(pointer.id, namespace, name, receipt=receipt_of(once, {}))

    async def drop(
        self,
        namespace: Namespace,
        name: str,
        *,
        purge: bool,
        once: Once | None = None,
        permit: TablePermit = ANYTHING,
    ) -> None:
        """Forget the table; with `purge`, delete everything in its folder too.

        An ordinary table is forgotten without being read: one whose metadata file is lost can still be dropped.
        """
        pointer, branch = await self._found(namespace, name, permit, Operation.DELETE)
        if branch:
            raise log_is_read_only(shown_table(namespace, name))
        folder = await self._own_folder(pointer) if purge else None
        if pointer.kind is TableKind.TOPIC:
            file = await self._files.read(pointer.metadata_location)
            check_drop(file.metadata, shown_table(namespace, name))
            await self._forget_topic(pointer)
        if folder is None and await self._went_with_topic(pointer):
            await self._store.move_tables([], receipt=receipt_of(once, {}))
        else:
            await self._store.drop_table(pointer.id, receipt=receipt_of(once, {}))
        if folder is not None:
            await self._objects.delete_below(folder)
            await self._objects.delete_below(self._objects.log_folder(pointer.id))

    def _adopter(self) -> Adopting:
        if self._adopting is None:
            raise Guarded("this catalog makes no topics of tables")
        return self._adopting

    # --- one step each -------------------------------------------------------------------------

    async def _found(
        self, namespace: Namespace, name: str, permit: TablePermit, operation: Operation, *, unlisted: bool = False
    ) -> tuple[TablePointer, str | None]:
        """The pointer that the verb goes on with. Raises UnknownTable, Denied."""
        if (found := await self._names.find(namespace, name, unlisted=unlisted)) is None:
            raise unknown_table(namespace, name)
        permit.must(operation, found[0].namespace, found[0].name, found[0].topic_name)
        return found

    async def _own_folder(self, pointer: TablePointer) -> str:
        """The folder to delete with the table. Raises InvalidTableChange if others may keep files in it."""
        location: str = (await self._files.read(pointer.metadata_location)).metadata["location"]
        if not location.endswith(f"/{pointer.id}"):
            raise InvalidTableChange(
                f"{location} is not this table's own folder, and others may keep files there: "
                "drop the table without purging, then delete its files by hand"
            )
        return location

    def _of_branch(self, file: MetadataFile, branch: str) -> MetadataFile:
        metadata = branch_table(file.metadata, branch, self._branch_fields(file.metadata))
        return MetadataFile(file.location, encode_metadata(metadata), metadata)

    async def _new(self, namespace: Namespace, request: Json) -> Metadata:
        uuid = self._ids.uuid()
        asked = optional(request, "location", str)
        if asked and await self._preparing.new_topics_in(namespace) is not None:
            raise InvalidTableChange(f"a topic's table has a place of its own: leave out the location {asked}")
        location = (asked or self._objects.table_location(uuid)).rstrip("/")
        metadata = new_table(request, uuid=uuid, location=location, now_ms=self._clock.wall_ms())
        check_locations(self._objects, metadata)
        return metadata

    async def _drop_superfluous(self, prepared: Sequence[Prepared]) -> None:
        """Delete superseded metadata files. The commit stands if this fails, since an extra file harms nobody.

        The history of a copied table names files of the original table. Those stay."""
        superfluous = [
            location
            for one in prepared
            for location in one.superfluous
            if self._objects.may_hold(location, one.move.pointer.id)
        ]
        with suppress(LakestreamError):
            await self._files.delete(tuple(superfluous))

    async def _check_only(self, uuid: str, namespace: Namespace, name: str) -> None:
        """Two names for one table would each have a history of their own, in the same folder. Raises TableExists."""
        other = await self._store.table_with_id(uuid)
        if other is not None and (other.namespace, other.name) != (namespace, name):
            raise TableExists(
                f"the table {uuid} is in the catalog already, as {shown_table(other.namespace, other.name)}: "
                "rename that one, or drop it first"
            )

    def _refuse_topic(self, known: tuple[TablePointer, str | None], namespace: Namespace, name: str) -> None:
        pointer, branch = known
        if branch or pointer.kind is TableKind.TOPIC:
            raise Guarded(f"{shown_table(namespace, name)} belongs to a topic, and no other table can take its place")

    async def _went_with_topic(self, pointer: TablePointer) -> bool:
        """Whether the topic's configs delete the table with the topic. The pipeline then deletes its files after the
        grace, and must find the table for that."""
        now = await self._store.table_with_id(pointer.id)
        return now is not None and now.kind is TableKind.DROPPED

    async def _forget_topic(self, pointer: TablePointer) -> None:
        if pointer.topic is not None:
            with suppress(UnknownTopicId):
                await self._delete_topic(pointer.topic)
                table = shown_table(pointer.namespace, pointer.name)
                log.warning(
                    "topic deleted by DROP TABLE", table=table, topic_id=pointer.topic.hex(), allowed_by=DROPPABLE
                )
