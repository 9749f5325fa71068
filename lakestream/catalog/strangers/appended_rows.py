"""INSERT is produce: finds the files that another engine appends to a topic's table, and puts them on `log` as well.

    append snapshots of the change -> their manifests -> added files, checked -> AppendedFile, one for each
    `log` is where `main` was   -> `log` moves to the same snapshot
    `log` and `main` differ     -> a snapshot of `log` with the same manifests

Nothing is copied. Offsets are given in the transaction that moves the pointer (metadata/verbs/appending.py), never in a
metadata file. Only snapshots of operation `append` produce; all others change `main` alone.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.commits.snapshots import append_manifests, ref_update
from lakestream.catalog.commits.table_state import head_of
from lakestream.catalog.files.commit_names import CommitNames
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.manifests.entries import EntryFormat, ManifestFile, Status, settled_entries
from lakestream.catalog.manifests.manifests import Content
from lakestream.catalog.spec.apply import apply_updates
from lakestream.catalog.spec.values import Json, Metadata, whole_number
from lakestream.catalog.strangers.guards import is_append
from lakestream.model.errors import ObjectExists
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH, AppendedFile, TablePointer
from lakestream.model.table_errors import Guarded, InvalidTableChange
from lakestream.world.ids import Ids

PARTITION_OF_ROWS = "lakestream.partition"
"""In the summary of an append: the partition that takes its rows."""
FILES_MAX = 100_000
"""Files of one commit: each is looked into, and has a row in the metadata store."""


class FoundFile(NamedTuple):
    path: str
    rows: int
    bytes: int


class RowsAsRecords(Protocol):
    """Knows how rows of a topic's table become records."""

    def encoding(self, metadata: Metadata) -> str:
        """The text that describes it for the table as it is now. Raises InvalidTableChange."""
        ...

    async def check(self, metadata: Metadata, files: Sequence[FoundFile]) -> None:
        """Raises InvalidTableChange if a file is not Parquet with field ids, has other rows than it should, or holds a
        column in a type that the table's column cannot be read from."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedRows:
    """The effect of a change's appends."""

    metadata: Metadata
    """The table after the change, with `log` moved."""
    files: tuple[AppendedFile, ...] = ()
    partition: int | None = None
    written: tuple[str, ...] = ()
    """Objects that nobody needs if the change is not made."""


class AppendingEngines:
    def __init__(self, objects: TableObjects, records: RowsAsRecords, ids: Ids) -> None:
        self._objects = objects
        self._snapshots = SnapshotFiles(objects)
        self._records = records
        self._ids = ids

    async def applied(
        self,
        pointer: TablePointer,
        base: Metadata,
        changed: Metadata,
        updates: Sequence[Json],
        *,
        version: int,
        now_ms: int,
    ) -> AppendedRows:
        """`changed` is the table after the updates, which were checked. Raises InvalidTableChange, Guarded."""
        appends = [update["snapshot"] for update in updates if is_append(update)]
        if not appends:
            return AppendedRows(metadata=changed)
        _check_on_main(changed, appends)
        added = [(snapshot, await self._added(changed, snapshot)) for snapshot in appends]
        found = [file for _, rows in added for file in await self._files(changed, rows)]
        await self.check(pointer, changed, found)
        files = await self.as_records(pointer, changed, found)
        moved, objects = await self._on_log(pointer, base, changed, added, version=version, now_ms=now_ms)
        return AppendedRows(metadata=moved, files=files, partition=_partition(appends), written=objects)

    async def present(self, metadata: Metadata) -> list[FoundFile]:
        """The files of `main`, those of the oldest commit first. Raises Guarded if rows in them are deleted."""
        head = head_of(metadata, MAIN_BRANCH)
        rows = [] if head is None else await self._snapshots.manifest_list(metadata, head)
        if await self._snapshots.deleted_rows(metadata, MAIN_BRANCH):
            raise Guarded(
                "some of the table's rows are deleted by delete files, and such rows must not become records: rewrite "
                "the files first (Spark: CALL system.rewrite_data_files(table => '...', options => "
                "map('delete-file-threshold', '1'))), or begin with the rows that come from now on"
            )
        found: list[tuple[int, FoundFile]] = []
        for row in rows:
            format = EntryFormat(metadata, row["partition_spec_id"])
            found += [
                (entry.sequence_number or 0, FoundFile(entry.path, entry.rows, format.file_bytes(entry)))
                for entry in settled_entries(await self._snapshots.entries(metadata, row), row)
            ]
        return [file for _, file in sorted(found, key=lambda one: one[0])]

    async def _added(self, changed: Metadata, snapshot: Json) -> list[ManifestFile]:
        """The manifests that the snapshot added."""
        rows = [row for row in await self._snapshots.list_of(snapshot) if _is_new(row, snapshot)]
        for row in rows:
            if row["content"] != Content.DATA or row["deleted_files_count"]:
                raise Guarded("an append to the table of a topic only adds rows: use a MERGE or DELETE for the rest")
            if row["existing_files_count"]:
                raise Guarded(
                    "the append also merges manifests: set the table's property 'commit.manifest-merge.enabled' to "
                    "false, and append again"
                )
        return rows

    async def _files(self, changed: Metadata, rows: Sequence[ManifestFile]) -> list[FoundFile]:
        found = []
        for row in rows:
            format = EntryFormat(changed, row["partition_spec_id"])
            entries = await self._snapshots.entries(changed, row)
            found += [
                FoundFile(one.path, one.rows, format.file_bytes(one)) for one in entries if one.status is Status.ADDED
            ]
        return found

    async def check(self, pointer: TablePointer, metadata: Metadata, files: Sequence[FoundFile]) -> None:
        """Check that rows of these files can become records. Raises Guarded, InvalidTableChange."""
        if len(files) > FILES_MAX:
            raise InvalidTableChange(
                f"{len(files):,} files would become records at once, more than {FILES_MAX:,}: append fewer at once, or "
                "rewrite them into larger ones first"
            )
        if len({file.path for file in files}) != len(files):
            raise InvalidTableChange("a file is there twice: its rows would be two records each")
        own = (self._objects.table_location(pointer.id),)
        for file in files:
            if not self._objects.is_below(file.path, own):
                raise Guarded(
                    f"{file.path} lies outside of the table's own folder, and may be changed or deleted by others: "
                    "INSERT its rows instead of adding the file"
                )
        await self._records.check(metadata, files)

    async def as_records(
        self, pointer: TablePointer, changed: Metadata, files: Sequence[FoundFile]
    ) -> tuple[AppendedFile, ...]:
        """Writes how they become records. Raises InvalidTableChange if the table's contract has no such way."""
        text = self._records.encoding(changed).encode()
        location = f"{self._objects.log_folder(pointer.id)}/encodings/{hashlib.sha256(text).hexdigest()}.json"
        with suppress(ObjectExists):  # rows of an earlier append become records in the same way
            await self._objects.write(location, text)
        return tuple(AppendedFile(*file, location) for file in files)

    async def _on_log(
        self,
        pointer: TablePointer,
        base: Metadata,
        changed: Metadata,
        added: Sequence[tuple[Json, Sequence[ManifestFile]]],
        *,
        version: int,
        now_ms: int,
    ) -> tuple[Metadata, tuple[str, ...]]:
        """The table with the files on `log`, and the objects written for that."""
        head, others = head_of(base, LOG_BRANCH), list[ManifestFile]()
        for snapshot, rows in added:
            if snapshot.get("parent-snapshot-id") == head and not others:
                head = snapshot["snapshot-id"]
            else:
                others += rows
        shared = ref_update(changed, LOG_BRANCH, head) if head is not None else None
        moved = apply_updates(changed, [shared], now_ms=now_ms) if shared else changed
        if not others:
            return moved, ()
        names = CommitNames(folder=self._objects.commits_folder(pointer.id), version=version, attempt=self._ids.uuid())
        state = await self._snapshots.table_state(moved, (LOG_BRANCH,))
        plan = append_manifests(state, LOG_BRANCH, others, now_ms=now_ms, ids=self._ids, names=names)
        await self._snapshots.write(plan.objects)
        return apply_updates(moved, plan.updates, now_ms=now_ms), tuple(new.location for new in plan.objects)


def _is_new(row: ManifestFile, snapshot: Json) -> bool:
    return bool(row["added_snapshot_id"] == snapshot["snapshot-id"])


def _check_on_main(changed: Metadata, appends: Sequence[Json]) -> None:
    """Rows of another branch would be records that no query sees."""
    snapshots = {one["snapshot-id"]: one for one in changed["snapshots"]}
    on_main, id = set[int](), head_of(changed, MAIN_BRANCH)
    while id is not None and id in snapshots and id not in on_main:
        on_main.add(id)
        id = snapshots[id].get("parent-snapshot-id")
    if any(snapshot["snapshot-id"] not in on_main for snapshot in appends):
        raise Guarded(
            "rows are appended to the branch 'main' of a topic's table, and to no other: INSERT into the table"
        )


def _partition(appends: Sequence[Json]) -> int | None:
    asked = {snapshot["summary"].get(PARTITION_OF_ROWS) for snapshot in appends}
    if asked == {None}:
        return None
    number = whole_number(str(next(iter(asked)))) if len(asked) == 1 else None
    if number is None:
        raise InvalidTableChange(f"'{PARTITION_OF_ROWS}' must be the number of one partition")
    return number
