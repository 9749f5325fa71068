"""Measures what a topic's table has beside its log: other engines' files, and our own that only `main` keeps.

    heads of `main` and of others' branches and tags, and snapshots that others made
    ->  their manifests  ->  files that do not lie in the log's folder: rewritten rows, deletes
                         ->  files that do, and that a clustering has written
    head of `main`       ->  its files in the log's folder that `log` has not, or not any more

The log's own files lie in a folder of their own (locations.py), so the path shows the owner of a file. While nobody has
changed `main`, it is at the same snapshot as `log`, and nothing is read. Manifests are immutable, and kept in memory
within a limit. Summaries of others' snapshots are not enough:
such snapshots expire after half an hour, and their files stay.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.commits.summaries import CLUSTERING, JOB, MERGE, MOVED_ON, REBUILD, REBUILT, RETENTION
from lakestream.catalog.commits.table_state import head_of
from lakestream.catalog.files.locations import TableObjects, plain_location
from lakestream.catalog.manifests.avro_file import avro_rows
from lakestream.catalog.manifests.entries import EntryFormat, ManifestFile, Status
from lakestream.catalog.manifests.manifests import Content
from lakestream.catalog.spec.values import Json, Metadata
from lakestream.catalog.topic.clusterable import is_clustered
from lakestream.catalog.topic.hourly_tags import is_hourly
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH, QUARANTINE_BRANCH


class BytesBesideLog(NamedTuple):
    by_others: int = 0
    """Of all files that others wrote and that any kept snapshot reaches."""
    clustered: int = 0
    """Of clustered files, which hold rows that the log has as well, as long as it keeps them."""
    of_main_alone: int = 0
    """The log's own files that `main` has and `log` does not: the log has let go of them, or they are repaired rows."""


class BesideLog:
    def __init__(self, objects: TableObjects) -> None:
        self._objects = objects
        self._snapshots = SnapshotFiles(objects)

    async def bytes(self, metadata: Metadata) -> BytesBesideLog:
        """Raises DamagedTable."""
        heads = set(_touched_by_others(metadata))
        if not heads:
            return BytesBesideLog()
        log = await self._manifests(metadata, {head_of(metadata, LOG_BRANCH)})
        main = await self._manifests(metadata, {head_of(metadata, MAIN_BRANCH)})
        sizes: dict[str, int] = {}
        on_main: dict[str, int] = {}
        for path, row in (await self._manifests(metadata, heads)).items():
            if path not in log:
                sizes |= (found := await self._sizes(metadata, row))
                on_main |= found if path in main else {}
        folder = f"{self._objects.log_folder(metadata['table-uuid'])}/"
        beside = {path: size for path, size in sizes.items() if not path.startswith(folder)}
        own = {path: size for path, size in on_main.items() if path.startswith(folder) and not is_clustered(path)}
        # Rows that engines appended lie in their files on the log too, in manifests that were rolled since.
        on_log = await self._paths(metadata, log.values()) if beside or own else set()
        return BytesBesideLog(
            by_others=_bytes_without(beside, on_log),
            clustered=sum(size for path, size in sizes.items() if path.startswith(folder) and is_clustered(path)),
            of_main_alone=_bytes_without(own, on_log),
        )

    async def _paths(self, metadata: Metadata, manifests: Iterable[ManifestFile]) -> set[str]:
        """Of the live files in these manifests, by their plain spelling."""
        return {plain_location(path) for row in manifests for path in await self._snapshots.live_paths(metadata, row)}

    async def _manifests(self, metadata: Metadata, heads: Iterable[int | None]) -> dict[str, ManifestFile]:
        lists = [await self._snapshots.manifest_list(metadata, head) for head in heads if head is not None]
        return {row["manifest_path"]: row for rows in lists for row in rows}

    async def _sizes(self, metadata: Metadata, row: ManifestFile) -> dict[str, int]:
        """Several deletes may lie in one file, which counts once."""
        if row["content"] == Content.DATA:
            format = EntryFormat(metadata, row["partition_spec_id"])
            entries = await self._snapshots.entries(metadata, row)
            return {each.path: format.file_bytes(each) for each in entries if each.status is not Status.DELETED}
        location = row["manifest_path"]
        rows = avro_rows(await self._objects.read(location), location)
        files = [each["data_file"] for each in rows if each["status"] != Status.DELETED]
        return {file["file_path"]: file["file_size_in_bytes"] for file in files}


def _touched_by_others(metadata: Metadata) -> Iterable[int]:
    """Snapshots that may reach others' files: none while `main` is at `log` and nobody else has a snapshot."""
    refs: dict[str, Json] = metadata.get("refs") or {}
    theirs = {one["snapshot-id"] for one in metadata["snapshots"] if not _is_ours(one)}
    if head_of(metadata, MAIN_BRANCH) != head_of(metadata, LOG_BRANCH):
        return theirs | {
            ref["snapshot-id"] for name, ref in refs.items() if name not in (LOG_BRANCH, QUARANTINE_BRANCH)
        }
    return theirs | {ref["snapshot-id"] for name, ref in refs.items() if not _is_our_ref(name)}


def _is_our_ref(name: str) -> bool:
    return name in (LOG_BRANCH, MAIN_BRANCH, QUARANTINE_BRANCH) or is_hourly(name)


def _is_ours(snapshot: Json) -> bool:
    summary = snapshot.get("summary") or {}
    ours = {JOB, MERGE, MOVED_ON, RETENTION, CLUSTERING, REBUILD, REBUILT}
    return bool(ours & summary.keys()) or "added-files-size" not in summary


def _bytes_without(sizes: Mapping[str, int], on_log: AbstractSet[str]) -> int:
    return sum(size for path, size in sizes.items() if plain_location(path) not in on_log)
