"""Which files a topic's table needs, and which it does not: expired, left behind by a commit, unreachable.

    files that snapshots lead to:  metadata -> manifest lists -> manifests -> files of data and of deletes -> ledgers
    everything else below the table's folders may go, by the rules of who asks

All manifest lists are read (they mostly are in memory), so that no file is removed that any branch or tag still needs.
"""

from collections.abc import Iterable, Sequence

from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.files.commit_names import LEDGER_NAME, is_settled, version_of
from lakestream.catalog.files.locations import TableObjects, plain_location
from lakestream.catalog.files.metadata_file import MetadataFile
from lakestream.catalog.manifests.entries import ManifestFile
from lakestream.catalog.spec.values import Json, Metadata
from lakestream.catalog.topic.expiry import may_free_data, superfluous_files, superfluous_ledgers
from lakestream.catalog.topic.topic_table import GC_ENABLED


class NeededFiles:
    def __init__(self, objects: TableObjects, snapshots: SnapshotFiles) -> None:
        self._objects = objects
        self._snapshots = snapshots

    async def superfluous_without(self, metadata: Metadata, expired: Sequence[Json]) -> tuple[str, ...]:
        """The table's own files that only these snapshots need. Raises DamagedTable."""
        ids = {snapshot["snapshot-id"] for snapshot in expired}
        lists = await self._lists(metadata)
        old = [rows for id, rows in lists.items() if id in ids]
        kept = [rows for id, rows in lists.items() if id not in ids]
        superfluous = [
            *superfluous_files(metadata, expired, old, kept),
            *(await self._dead_data(metadata, old, kept) if may_free_data(metadata, expired) else ()),
        ]
        return tuple(self._own(metadata, superfluous))

    async def leftovers(self, listed: Sequence[str], base: MetadataFile) -> list[str]:
        """The listed objects in the folder of commits that no version needs, and no commit under way can need."""
        version, metadata = version_of(base.location), base.metadata
        needed = {
            base.location,
            *(entry["metadata-file"] for entry in metadata.get("metadata-log") or ()),
            *(snapshot["manifest-list"] for snapshot in metadata["snapshots"]),
            *(row["manifest_path"] for rows in (await self._lists(metadata)).values() for row in rows),
        }
        return [location for location in listed if is_settled(location, version) and location not in needed]

    async def unreached(self, listed: Sequence[str], metadata: Metadata) -> list[str]:
        """The listed data files and ledgers that no snapshot reaches."""
        if not _may_delete_data(metadata):
            return []
        rows = {row["manifest_path"]: row for own in (await self._lists(metadata)).values() for row in own}
        living = await self._live_paths(metadata, rows.values())
        needed = living | {f"{path.rpartition('/')[0]}/{LEDGER_NAME}" for path in living}
        return [location for location in listed if location not in needed]

    async def _dead_data(
        self, metadata: Metadata, old: Iterable[Sequence[ManifestFile]], kept: Iterable[Sequence[ManifestFile]]
    ) -> list[str]:
        """Data and delete files that only the old lists reach, and ledgers without a remaining file."""
        if not _may_delete_data(metadata):
            return []
        staying = {row["manifest_path"]: row for rows in kept for row in rows}
        going = {row["manifest_path"]: row for rows in old for row in rows if row["manifest_path"] not in staying}
        candidates = await self._live_paths(metadata, going.values())
        living = await self._live_paths(metadata, staying.values()) if candidates else set()
        dead = sorted(candidates - living)
        return [*dead, *superfluous_ledgers(dead, living)]

    async def _live_paths(self, metadata: Metadata, rows: Iterable[ManifestFile]) -> set[str]:
        """The paths in one spelling: a rewritten manifest may spell a location differently than its original."""
        found = [path for row in rows for path in await self._snapshots.live_paths(metadata, row)]
        return set(map(plain_location, found))

    async def _lists(self, metadata: Metadata) -> dict[int, Sequence[ManifestFile]]:
        """The manifest lists of all snapshots, by id."""
        return {snapshot["snapshot-id"]: await self._snapshots.list_of(snapshot) for snapshot in metadata["snapshots"]}

    def _own(self, metadata: Metadata, locations: Iterable[str]) -> list[str]:
        """The locations in the table's own folders. Others may belong to another table too."""
        folders = (metadata["location"], self._objects.log_folder(metadata["table-uuid"]))
        return [location for location in locations if self._objects.is_below(location, folders)]


def _may_delete_data(metadata: Metadata) -> bool:
    return str((metadata.get("properties") or {}).get(GC_ENABLED, "true")).lower() != "false"
