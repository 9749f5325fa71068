"""Reads the inputs of a commit: the heads' manifest lists, and the manifests that it will roll.

Both are immutable, and a committer mostly builds on its own last commit. So their content is cached within a size
limit, and a commit mostly reads nothing.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lakestream.catalog.commits.deleted_rows import DeletedRows, deleted_rows, deletes_by_value
from lakestream.catalog.commits.rolling import living, manifests_to_roll
from lakestream.catalog.commits.table_state import NewObject, TableState, has_lineage, head_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.recently_used import RecentlyUsed
from lakestream.catalog.manifests.avro_file import avro_rows
from lakestream.catalog.manifests.entries import EntryFormat, ManifestEntry, ManifestFile, Status
from lakestream.catalog.manifests.manifests import Content, decode_manifest_list
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.model.table_errors import DamagedTable

_ENTRIES_BYTES_MAX = 32 * 1024 * 1024
_ENTRY_BYTES = 300
"""The memory of an entry in addition to its encoded data file."""
_LISTS_BYTES_MAX = 32 * 1024 * 1024
_LIST_ROW_BYTES = 300
"""The memory of a row. Lists of one table share most of their rows."""


class _KeptEntries(NamedTuple):
    """Entries with the types of their partition values, by which they are encoded: a column may become wider."""

    types: tuple[str, ...]
    entries: Sequence[ManifestEntry]


class SnapshotFiles:
    """Reads and writes manifests and manifest lists."""

    def __init__(self, objects: TableObjects) -> None:
        self._objects = objects
        self._entries: RecentlyUsed[_KeptEntries] = RecentlyUsed(bytes_max=_ENTRIES_BYTES_MAX, weigh=_entries_bytes)
        self._lists: RecentlyUsed[Sequence[ManifestFile]] = RecentlyUsed(
            bytes_max=_LISTS_BYTES_MAX, weigh=lambda rows: _LIST_ROW_BYTES * (1 + len(rows))
        )

    async def table_state(self, metadata: Metadata, refs: Iterable[str]) -> TableState:
        """The inputs for appending to these branches. Raises DamagedTable."""
        heads = {head for ref in refs if (head := head_of(metadata, ref)) is not None}
        lists = {head: await self.manifest_list(metadata, head) for head in sorted(heads)}
        lineage = has_lineage(metadata)
        groups = (manifests_to_roll(living(rows), lineage=lineage) for rows in lists.values())
        to_roll = {row["manifest_path"]: row for group in groups for row in group}
        entries = await asyncio.gather(*(self.entries(metadata, row) for row in to_roll.values()))
        return TableState(metadata=metadata, lists=lists, entries=dict(zip(to_roll, entries, strict=True)))

    async def whole_state(self, metadata: Metadata, refs: Iterable[str]) -> TableState:
        """The inputs for removing files from these branches: all data manifests' entries too. Raises DamagedTable."""
        heads = {head for ref in refs if (head := head_of(metadata, ref)) is not None}
        lists = {head: await self.manifest_list(metadata, head) for head in sorted(heads)}
        rows = {row["manifest_path"]: row for own in lists.values() for row in own if row["content"] == Content.DATA}
        entries = await asyncio.gather(*(self.entries(metadata, row) for row in rows.values()))
        return TableState(metadata=metadata, lists=lists, entries=dict(zip(rows, entries, strict=True)))

    async def deleted_rows(self, metadata: Metadata, ref: str) -> list[DeletedRows]:
        """What the delete manifests of the branch's head say. Raises DamagedTable."""
        return deleted_rows(await self._delete_entries(metadata, ref))

    async def deletes_by_value(self, metadata: Metadata, ref: str) -> bool:
        """Whether the branch's head has equality deletes. Raises DamagedTable."""
        return deletes_by_value(await self._delete_entries(metadata, ref))

    async def _delete_entries(self, metadata: Metadata, ref: str) -> list[Json]:
        head = head_of(metadata, ref)
        rows = [] if head is None else await self.manifest_list(metadata, head)
        paths = [row["manifest_path"] for row in rows if row["content"] == Content.DELETES]
        return [entry for path in paths for entry in avro_rows(await self._objects.read(path), path)]

    async def live_paths(self, metadata: Metadata, row: ManifestFile) -> list[str]:
        """The files that a manifest brings into its snapshots, data and deletes."""
        if row["content"] == Content.DATA:
            return [entry.path for entry in await self.entries(metadata, row) if entry.status is not Status.DELETED]
        found = avro_rows(await self._objects.read(row["manifest_path"]), row["manifest_path"])
        return [entry["data_file"]["file_path"] for entry in found if entry["status"] != Status.DELETED]

    async def manifest_list(self, metadata: Metadata, snapshot_id: int) -> Sequence[ManifestFile]:
        snapshot = by_id(metadata["snapshots"], "snapshot-id", snapshot_id)
        return await self.list_of(snapshot or {"snapshot-id": snapshot_id})

    async def list_of(self, snapshot: Json) -> Sequence[ManifestFile]:
        if "manifest-list" not in snapshot:
            id = snapshot["snapshot-id"]
            raise DamagedTable(f"the table has no manifest list of snapshot {id}: restore its metadata")
        location = snapshot["manifest-list"]
        if (kept := self._lists.get(location)) is None:
            kept = decode_manifest_list(await self._objects.read(location), location)
            self._lists.keep(location, kept)
        return kept

    async def entries(self, metadata: Metadata, row: ManifestFile) -> Sequence[ManifestEntry]:
        """The entries of a data manifest."""
        location, format = row["manifest_path"], EntryFormat(metadata, row["partition_spec_id"])
        kept = self._entries.get(location)
        if kept is None or kept.types != format.types:
            kept = _KeptEntries(format.types, format.decode(await self._objects.read(location), row))
            self._entries.drop(location)
            self._entries.keep(location, kept)
        return kept.entries

    async def write(self, objects: Sequence[NewObject]) -> None:
        """All objects are durable when this returns."""
        await asyncio.gather(*(self._objects.write(new.location, new.content) for new in objects))
        for new in objects:
            if new.entries is not None:
                self._entries.keep(new.location, _KeptEntries(new.types, new.entries))
            if new.manifests is not None:
                self._lists.keep(new.location, new.manifests)

    async def delete(self, locations: Sequence[str]) -> None:
        for location in locations:
            self._entries.drop(location)
            self._lists.drop(location)
        await self._objects.delete(locations)


def _entries_bytes(kept: _KeptEntries) -> int:
    return sum(_ENTRY_BYTES + len(entry.data_file) for entry in kept.entries)
