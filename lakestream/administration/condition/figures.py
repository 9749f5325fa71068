"""The figures by which a table's condition is judged: of `main`, since that is what queries read.

    metadata in memory          -> snapshots, and the totals that the head's summary states: files, bytes, deletes
    manifest list (one object)  -> manifests and their bytes: what an engine reads to plan a query
    a few manifests             -> sizes of files: how many of them are small

No call reads all manifests. Each reads at most MANIFESTS_READ_MAX that were never read before, largest first, and what
they say is remembered. So the share of small files is a sample at first, and of all files after some calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.catalog.commits.reading import SnapshotFiles
from lakestream.catalog.commits.rolling import live_files, living
from lakestream.catalog.commits.table_state import head_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.recently_used import RecentlyUsed
from lakestream.catalog.manifests.avro_file import avro_rows
from lakestream.catalog.manifests.entries import ManifestFile, Status
from lakestream.catalog.manifests.manifests import Content
from lakestream.catalog.spec.values import Metadata, by_id, whole_number
from lakestream.catalog.topic.merge_plan import MergeLimits, is_small
from lakestream.model.table import MAIN_BRANCH

MANIFESTS_READ_MAX = 4
"""Manifests that one call reads of one table: their sizes are those of a commit or some hundred kilobytes."""
_REMEMBERED_BYTES_MAX = 8 * 1024 * 1024
_REMEMBERED_BYTES = 400
"""The memory of what is known of one manifest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFigures:
    format_version: int
    files: int
    bytes: int
    rows: int
    target_bytes: int
    """The size up to which files are merged."""
    sampled_files: int
    """Files whose size was looked at."""
    small_files: int
    """Those of them that are small enough to be merged."""
    delete_files: int
    deleted_rows: int
    """By position deletes and deletion vectors."""
    manifests: int
    planning_bytes: int
    """What an engine reads to plan a query over all of the table: the manifests."""
    snapshots: int

    @property
    def small_share(self) -> float:
        return self.small_files / self.sampled_files if self.sampled_files else 0.0

    @property
    def files_needed(self) -> int:
        """Files of the target size that would hold the table."""
        return -(-self.bytes // self.target_bytes)


class _Sizes(NamedTuple):
    files: int
    small: int


class FiguresOfTables:
    def __init__(self, objects: TableObjects, limits: MergeLimits) -> None:
        self._objects = objects
        self._limits = limits
        self._snapshots = SnapshotFiles(objects)
        self._sizes: RecentlyUsed[_Sizes] = RecentlyUsed(
            bytes_max=_REMEMBERED_BYTES_MAX, weigh=lambda sizes: _REMEMBERED_BYTES
        )

    async def of(self, metadata: Metadata) -> TableFigures:
        """Raises DamagedTable."""
        head = head_of(metadata, MAIN_BRANCH)
        rows = [] if head is None else living(await self._snapshots.manifest_list(metadata, head))
        data = [row for row in rows if row["content"] == Content.DATA]
        deletes = [row for row in rows if row["content"] == Content.DELETES]
        snapshot = None if head is None else by_id(metadata["snapshots"], "snapshot-id", head)
        summary = (snapshot or {}).get("summary") or {}

        def total(name: str, otherwise: int) -> int:
            stated = whole_number(str(summary.get(name, "")))
            return otherwise if stated is None else stated

        files = sum(map(live_files, data))
        sampled = await self._sampled(data)
        return TableFigures(
            format_version=metadata["format-version"],
            files=files,
            bytes=total("total-files-size", 0),
            rows=total("total-records", 0),
            target_bytes=self._limits.target_bytes,
            sampled_files=sampled.files,
            small_files=sampled.small,
            delete_files=total("total-delete-files", sum(map(live_files, deletes))),
            deleted_rows=total("total-position-deletes", 0),
            manifests=len(rows),
            planning_bytes=sum(row["manifest_length"] for row in rows),
            snapshots=len(metadata["snapshots"]),
        )

    async def _sampled(self, manifests: Sequence[ManifestFile]) -> _Sizes:
        """The sizes of files in manifests that are known, after a few more became known."""
        unknown = [row for row in manifests if self._sizes.get(row["manifest_path"]) is None]
        unknown.sort(key=live_files, reverse=True)
        for row in unknown[:MANIFESTS_READ_MAX]:
            self._sizes.keep(row["manifest_path"], await self._read(row["manifest_path"]))
        known = [sizes for row in manifests if (sizes := self._sizes.get(row["manifest_path"])) is not None]
        return _Sizes(sum(sizes.files for sizes in known), sum(sizes.small for sizes in known))

    async def _read(self, location: str) -> _Sizes:
        entries = avro_rows(await self._objects.read(location), location)
        sizes = [one["data_file"]["file_size_in_bytes"] for one in entries if one["status"] != Status.DELETED]
        return _Sizes(len(sizes), sum(is_small(size, self._limits) for size in sizes))
