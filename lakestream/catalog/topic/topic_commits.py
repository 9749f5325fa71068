"""Our own commits to a topic's table: prepares everything except the move of the pointer.

    prepared = await commits.append(pointer, {"log": files, "main": files}, summary=...)
    ... one metadata transaction makes prepared.move, and whatever belongs together with it ...
    await commits.finish(prepared)        or, where the transaction was refused:  await commits.abandon(prepared)

The caller moves the pointer, because the same transaction changes more: the topic's spans, the job, the fencing token.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypedDict

from lakestream.catalog.commits.branch_files import entries_of, paths_of
from lakestream.catalog.commits.letting_go import let_go, removal_summary
from lakestream.catalog.commits.lineage import carried_on, last_rows_ms
from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.commits.removals import remove_files
from lakestream.catalog.commits.replacements import replace_files
from lakestream.catalog.commits.snapshots import append_files
from lakestream.catalog.commits.summaries import LAST_ROWS_MS
from lakestream.catalog.commits.table_state import NewObject, TableState, head_of
from lakestream.catalog.files.commit_names import CommitNames, version_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFile, MetadataFiles
from lakestream.catalog.manifests.data_files import DataFile
from lakestream.catalog.spec.apply import apply_updates
from lakestream.catalog.spec.values import Json, Metadata
from lakestream.catalog.topic.clusterable import Clusterable, clusterable
from lakestream.catalog.topic.expiry import SNAPSHOTS_KEPT, snapshots_to_expire
from lakestream.catalog.topic.hourly_tags import hourly_tags
from lakestream.catalog.topic.mergeable import Mergeable, MergedFiles, mergeable
from lakestream.catalog.topic.needed_files import NeededFiles
from lakestream.catalog.topic.rebuilding import (
    REBUILD_BASE,
    REBUILD_BRANCH,
    RebuildState,
    plan_side_branch,
    plan_swap,
    rebuild_state,
    without_side_branch,
)
from lakestream.catalog.topic.table_layout import TableLayout, layout_of, layout_updates
from lakestream.catalog.topic.topic_table import TopicTableSpec, new_topic_table, table_id_of
from lakestream.model.errors import LakestreamError
from lakestream.model.table import (
    LOG_BRANCH,
    MAIN_BRANCH,
    QUARANTINE_BRANCH,
    Namespace,
    PointerMove,
    TableId,
    TableKind,
    TablePointer,
)
from lakestream.model.table_errors import CommitConflict
from lakestream.model.topic import TopicId, TopicSpec
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.tasks import both

_LATEST_MS = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCommit:
    """Written, but not yet visible to anyone."""

    move: PointerMove
    metadata: Metadata
    heads: Mapping[str, int]
    """The new head of each branch."""
    objects: tuple[NewObject, ...]
    superfluous: tuple[str, ...]


class _PlanInputs(TypedDict):
    now_ms: int
    ids: Ids
    names: CommitNames


Evolve = Callable[[Metadata], Sequence[Json]]
"""From a table's metadata to updates of its schema and properties."""


class TopicCommits:
    def __init__(self, *, objects: TableObjects, files: MetadataFiles, clock: Clock, ids: Ids) -> None:
        self._objects = objects
        self._files = files
        self._snapshots = SnapshotFiles(objects)
        self._needed = NeededFiles(objects, self._snapshots)
        self._clock = clock
        self._ids = ids

    async def create(
        self,
        topic: TopicId,
        namespace: Namespace,
        name: str,
        asked: TopicTableSpec,
        *,
        new_topic: TopicSpec | None = None,
    ) -> PreparedCommit:
        """The table of a new topic. `new_topic`: the topic, if the same transaction creates it."""
        uuid = table_id_of(topic)
        metadata, objects = new_topic_table(
            asked,
            uuid=uuid,
            location=self._objects.table_location(uuid),
            now_ms=self._clock.wall_ms(),
            ids=self._ids,
            names=self._names(uuid, version=0),
        )
        await self._snapshots.write(objects)
        # Our own files lie elsewhere. Other engines will write here.
        await self._objects.make_folder(f"{metadata['location']}/metadata")
        pointer = TablePointer(
            id=uuid,
            namespace=namespace,
            name=name,
            kind=TableKind.TOPIC,
            metadata_location=await self._files.write_first(metadata, folder=self._objects.commits_folder(uuid)),
            topic=topic,
        )
        heads = {ref: value["snapshot-id"] for ref, value in metadata["refs"].items()}
        move = PointerMove(pointer=pointer, expected_location=None, new_topic=new_topic)
        return PreparedCommit(move=move, metadata=metadata, heads=heads, objects=objects, superfluous=())

    async def append(
        self,
        pointer: TablePointer,
        files: Mapping[str, Sequence[DataFile]],
        *,
        summary: Mapping[str, str],
        evolve: Evolve | None = None,
    ) -> PreparedCommit:
        """Append `files`, by branch, to the pointer's version of the table. The branch named first assigns row ids.
        `evolve` returns further changes, such as the schema that the files were written in. Raises DamagedTable."""
        base = await self._files.read(pointer.metadata_location)
        now_ms = self._clock.wall_ms()
        changes = evolve(base.metadata) if evolve else ()
        evolved = apply_updates(base.metadata, changes, now_ms=now_ms) if changes else base.metadata
        state = await self._snapshots.table_state(evolved, files)
        names = self._names(pointer.id, version=version_of(base.location) + 1)
        plan = append_files(state, files, summary=summary, now_ms=now_ms, ids=self._ids, names=names)
        updates = (*changes, *hourly_tags(base.metadata, now_ms=now_ms), *plan.updates)
        return await self._next(pointer, base, updates, unwritten=plan.objects, heads=plan.heads)

    async def repair(
        self,
        pointer: TablePointer,
        gone: AbstractSet[str],
        files: Mapping[str, Sequence[DataFile]],
        *,
        summary: Mapping[str, str],
        evolve: Evolve,
    ) -> PreparedCommit:
        """Remove the files of `gone` from the branch `quarantine`, then append `files`, by branch. Raises DamagedTable,
        and CommitConflict if they are not there any more."""
        base = await self._files.read(pointer.metadata_location)
        now_ms, version = self._clock.wall_ms(), version_of(base.location) + 1
        removal = remove_files(
            await self._snapshots.whole_state(base.metadata, (QUARANTINE_BRANCH,)),
            {QUARANTINE_BRANCH: gone},
            summary=summary,
            now_ms=now_ms,
            ids=self._ids,
            names=self._names(pointer.id, version=version),
        )
        if removal is None:
            raise CommitConflict("someone else has repaired these records meanwhile: look what is left")
        await self._snapshots.write(removal.objects)
        changes = [*removal.updates, *evolve(base.metadata)]
        changed = apply_updates(base.metadata, changes, now_ms=now_ms)
        addition = append_files(
            await self._snapshots.table_state(changed, files),
            files,
            summary=summary,
            now_ms=now_ms,
            ids=self._ids,
            names=self._names(pointer.id, version=version),
        )
        return await self._next(
            pointer,
            base,
            [*changes, *addition.updates],
            written=removal.objects,
            unwritten=addition.objects,
            heads=addition.heads,
        )

    async def summary_with(self, pointer: TablePointer, name: str, value: str) -> Mapping[str, str] | None:
        """The summary of a snapshot with this property; None if the table has none (any more). Raises DamagedTable."""
        snapshots = (await self._files.read(pointer.metadata_location)).metadata.get("snapshots") or ()
        summaries = (snapshot.get("summary") or {} for snapshot in snapshots)
        return next((summary for summary in summaries if summary.get(name) == value), None)

    async def log_files(self, pointer: TablePointer) -> frozenset[str]:
        """The data files of the branch `log` in the pointer's version. Raises DamagedTable."""
        return await self.branch_files(pointer, LOG_BRANCH)

    async def branch_files(self, pointer: TablePointer, branch: str) -> frozenset[str]:
        """The branch's data files; empty if there is no such branch. Raises DamagedTable."""
        base = await self._files.read(pointer.metadata_location)
        return frozenset(paths_of(await self._snapshots.whole_state(base.metadata, (branch,)), branch))

    async def described_files(
        self, pointer: TablePointer, branch: str, *, known: Container[str]
    ) -> Mapping[str, Json | None]:
        """The branch's data files as its manifests describe them; None for `known` ones. Raises DamagedTable."""
        base = await self._files.read(pointer.metadata_location)
        state = await self._snapshots.whole_state(base.metadata, (branch,))
        return {
            entry.path: None if entry.path in known else format.described(entry)
            for format, entry in entries_of(state, branch)
        }

    async def remove(self, pointer: TablePointer, gone: Mapping[str, AbstractSet[str]]) -> PreparedCommit | None:
        """Retention: remove data files from branches, by branch; None if no branch has any of its own. `gone` names
        all branches that retention looks after, so that the snapshot says which files no branch needs any more. Raises
        DamagedTable."""
        base = await self._files.read(pointer.metadata_location)
        state = await self._snapshots.whole_state(base.metadata, gone)
        last_ms = last_rows_ms(base.metadata, head_of(base.metadata, LOG_BRANCH))
        plan = remove_files(
            state,
            gone,
            summary={
                **removal_summary(let_go(state, gone), gone),
                **({} if last_ms is None else {LAST_ROWS_MS: str(last_ms)}),
            },
            now_ms=self._clock.wall_ms(),
            ids=self._ids,
            names=self._names(pointer.id, version=version_of(base.location) + 1),
        )
        if plan is None:
            return None
        return await self._next(pointer, base, plan.updates, unwritten=plan.objects, heads=plan.heads)

    async def mergeable(self, pointer: TablePointer) -> Mergeable:
        """The files of the pointer's version as a merge sees them. Raises DamagedTable."""
        _, found = await self._mergeable(await self._files.read(pointer.metadata_location))
        return found

    async def merge(
        self, pointer: TablePointer, merges: Sequence[MergedFiles], *, summary: Mapping[str, str]
    ) -> PreparedCommit:
        """Replace files of `log` by merged ones, and on `main` where it has the same files (mergeable.py). Raises
        DamagedTable, LedgerConflict if the files are not there any more."""
        base = await self._files.read(pointer.metadata_location)
        state, found = await self._mergeable(base)
        plan = replace_files(
            state,
            found.replacements(merges),
            summary={**carried_on(base.metadata, head_of(base.metadata, LOG_BRANCH)), **summary},
            now_ms=self._clock.wall_ms(),
            ids=self._ids,
            names=self._names(pointer.id, version=version_of(base.location) + 1),
        )
        return await self._next(pointer, base, plan.updates, unwritten=plan.objects, heads=plan.heads)

    async def _mergeable(self, base: MetadataFile) -> tuple[TableState, Mergeable]:
        state = await self._snapshots.whole_state(base.metadata, (LOG_BRANCH, MAIN_BRANCH))
        return state, mergeable(state, await self._snapshots.deleted_rows(base.metadata, MAIN_BRANCH))

    async def lay_out(self, pointer: TablePointer, asked: Mapping[str, str]) -> PreparedCommit | None:
        """Give the table the layout that the topic's configs ask for; None if it has it. Raises DamagedTable, and
        InvalidTableChange if it cannot have it."""
        base = await self._files.read(pointer.metadata_location)
        updates = layout_updates(base.metadata, asked)
        return await self._next(pointer, base, updates) if updates else None

    async def layout(self, pointer: TablePointer) -> TableLayout:
        """How the table's files are written now. Raises DamagedTable."""
        return layout_of((await self._files.read(pointer.metadata_location)).metadata)

    async def clusterable(self, pointer: TablePointer, branch: str = MAIN_BRANCH) -> Clusterable:
        """The files of `main` as a clustering sees them, or of the branch on which it is rebuilt. Raises
        DamagedTable."""
        _, found = await self._clusterable(await self._files.read(pointer.metadata_location), branch)
        return found

    async def cluster(
        self,
        pointer: TablePointer,
        gone: AbstractSet[str],
        files: Sequence[DataFile],
        *,
        summary: Mapping[str, str],
        branch: str = MAIN_BRANCH,
    ) -> PreparedCommit:
        """Replace files of `main`, or of the branch on which it is rebuilt, by clustered ones. Raises DamagedTable, and
        LedgerConflict if someone else has changed them."""
        base = await self._files.read(pointer.metadata_location)
        state, found = await self._clusterable(base, branch)
        plan = replace_files(
            state,
            {branch: found.replacement(gone, files)},
            summary={**carried_on(base.metadata, head_of(base.metadata, branch)), **summary},
            now_ms=self._clock.wall_ms(),
            ids=self._ids,
            names=self._names(pointer.id, version=version_of(base.location) + 1),
        )
        return await self._next(pointer, base, plan.updates, unwritten=plan.objects, heads=plan.heads)

    async def _clusterable(self, base: MetadataFile, branch: str) -> tuple[TableState, Clusterable]:
        state = await self._snapshots.whole_state(base.metadata, (branch, LOG_BRANCH))
        return state, clusterable(state, branch, await self._snapshots.deleted_rows(base.metadata, branch))

    async def rebuild_state(self, pointer: TablePointer) -> RebuildState:
        """How far the rebuild of `main` is in the pointer's version. Raises DamagedTable."""
        return rebuild_state((await self._files.read(pointer.metadata_location)).metadata)

    async def begin_rebuild(self, pointer: TablePointer, id: str) -> PreparedCommit:
        """A side branch with the files of `log` that SQL should see. Raises DamagedTable."""
        base = await self._files.read(pointer.metadata_location)
        state = await self._snapshots.whole_state(base.metadata, (LOG_BRANCH, MAIN_BRANCH))
        plan = plan_side_branch(state, id, **self._planned(pointer, base))
        return await self._next(pointer, base, plan.updates, unwritten=plan.objects, heads=plan.heads)

    async def end_rebuild(self, pointer: TablePointer, id: str) -> PreparedCommit:
        """`main` becomes what the side branch has, and what `log` got since. Raises DamagedTable, and LedgerConflict if
        rows are missing on the side branch, or there twice."""
        base = await self._files.read(pointer.metadata_location)
        branches = (LOG_BRANCH, MAIN_BRANCH, REBUILD_BRANCH, REBUILD_BASE)
        state = await self._snapshots.whole_state(base.metadata, branches)
        own = f"{self._objects.log_folder(pointer.id)}/"
        plan = plan_swap(state, id, own_folder=own, **self._planned(pointer, base))
        return await self._next(pointer, base, plan.updates, unwritten=plan.objects, heads=plan.heads)

    async def drop_rebuild(self, pointer: TablePointer) -> PreparedCommit:
        """Take the side branch away: the rebuild is given up. Raises DamagedTable."""
        base = await self._files.read(pointer.metadata_location)
        return await self._next(pointer, base, without_side_branch(base.metadata))

    def _planned(self, pointer: TablePointer, base: MetadataFile) -> _PlanInputs:
        names = self._names(pointer.id, version=version_of(base.location) + 1)
        return {"now_ms": self._clock.wall_ms(), "ids": self._ids, "names": names}

    async def expire(
        self, pointer: TablePointer, *, keep: int = SNAPSHOTS_KEPT, trimmed_before_ms: int | None = None
    ) -> PreparedCommit | None:
        """Expire snapshots that the table does not need (expiry.py); None if it needs all. Raises DamagedTable."""
        base = await self._files.read(pointer.metadata_location)
        expired = snapshots_to_expire(base.metadata, keep=keep, trimmed_before_ms=trimmed_before_ms)
        if not expired:
            return None
        ids = sorted(snapshot["snapshot-id"] for snapshot in expired)
        updates = ({"action": "remove-snapshots", "snapshot-ids": ids},)
        superfluous = await self._needed.superfluous_without(base.metadata, expired)
        return await self._next(pointer, base, updates, superfluous=superfluous)

    async def has_trimmed(self, pointer: TablePointer) -> bool:
        """Whether the table keeps snapshots from before a retention only because of the grace."""
        base = await self._files.read(pointer.metadata_location)
        return bool(snapshots_to_expire(base.metadata, keep=SNAPSHOTS_KEPT, trimmed_before_ms=_LATEST_MS))

    def _names(self, table: TableId, *, version: int) -> CommitNames:
        return CommitNames(folder=self._objects.commits_folder(table), version=version, attempt=self._ids.uuid())

    async def _next(
        self,
        pointer: TablePointer,
        base: MetadataFile,
        updates: Sequence[Json],
        *,
        written: tuple[NewObject, ...] = (),
        unwritten: tuple[NewObject, ...] = (),
        heads: Mapping[str, int] | None = None,
        superfluous: tuple[str, ...] = (),
    ) -> PreparedCommit:
        """Writes everything in parallel: nobody follows a reference before the pointer has moved."""
        changed = apply_updates(base.metadata, updates, now_ms=self._clock.wall_ms())
        _, next = await both(
            self._snapshots.write(unwritten),
            self._files.write_next(base, changed, folder=self._objects.commits_folder(pointer.id)),
        )
        moved = replace(pointer, metadata_location=next.location)
        return PreparedCommit(
            move=PointerMove(pointer=moved, expected_location=pointer.metadata_location),
            metadata=next.metadata,
            heads=heads or {},
            objects=(*written, *unwritten),
            superfluous=(*next.superfluous, *superfluous),
        )

    async def pass_version(self, pointer: TablePointer) -> PreparedCommit:
        """The table under its next version, so that no other object of that one can be committed. Raises
        DamagedTable."""
        return await self._next(pointer, await self._files.read(pointer.metadata_location), ())

    async def leftovers(self, listed: Sequence[str], pointer: TablePointer) -> list[str]:
        """The `listed` objects that failed commits left behind. List before reading the pointer. Raises
        DamagedTable."""
        return await self._needed.leftovers(listed, await self._files.read(pointer.metadata_location))

    async def unreached(self, listed: Sequence[str], pointer: TablePointer) -> list[str]:
        """The `listed` files and ledgers that no snapshot reaches. List before reading the pointer. Raises
        DamagedTable."""
        return await self._needed.unreached(listed, (await self._files.read(pointer.metadata_location)).metadata)

    async def finish(self, prepared: PreparedCommit) -> None:
        """The pointer has moved: delete files that the table no longer needs. The commit stands even if this fails."""
        if prepared.move.expected_location is not None:
            self._files.forget(prepared.move.expected_location)
        with suppress(LakestreamError):
            await self._snapshots.delete(prepared.superfluous)

    async def abandon(self, prepared: PreparedCommit) -> None:
        """The pointer has certainly not moved and never will: delete the written objects. If that is not certain (the
        store did not answer), find out what happened to the transaction first."""
        await self._files.delete((prepared.move.pointer.metadata_location,))
        await self._snapshots.delete([new.location for new in prepared.objects])
