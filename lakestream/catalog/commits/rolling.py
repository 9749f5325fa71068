"""Rolls small manifests together (merges them), so that a snapshot has few however many commits came before it.

    16 manifests of under 16 files  ->  one of under 256     16 of those  ->  one of under 4096, which stays as it is

Each commit rolls at most one group, so its cost is bounded; an entry is rewritten twice or three times in its life.
Entries keep their own snapshot, sequence numbers and row ids: readers see the same files as before.
"""

from collections.abc import Sequence

from lakestream.catalog.manifests.entries import ManifestFile
from lakestream.catalog.manifests.manifests import Content
from lakestream.catalog.manifests.partition_values import merged_summaries
from lakestream.catalog.spec.values import Json

FAN_IN = 16
"""How many manifests are merged into one. Fewer would rewrite entries more often, more would slow readers."""
ROLLED_FILES_MAX = 4096
"""Files in one manifest: takes about a tenth of a second to write, and some hundred kilobytes to read."""


def living(manifests: Sequence[ManifestFile]) -> list[ManifestFile]:
    """The manifests that the next snapshot still needs. A manifest without remaining files is left out."""
    return [row for row in manifests if row["content"] != Content.DATA or live_files(row)]


def manifests_to_roll(manifests: Sequence[ManifestFile], *, lineage: bool) -> list[ManifestFile]:
    """The group of living manifests to merge now: the smallest ones of which there are enough. Empty if there is none.

    With row lineage, only manifests whose rows have ids are merged: merging must not assign ids."""
    levels: dict[tuple[int, int], list[ManifestFile]] = {}
    for manifest in manifests:
        if _can_be_rolled(manifest, lineage):
            levels.setdefault((_level(live_files(manifest)), manifest["partition_spec_id"]), []).append(manifest)
    for _, group in sorted(levels.items(), key=lambda item: item[0]):
        rolled = group[-FAN_IN:]  # the oldest: new ones come first
        if len(rolled) == FAN_IN and sum(map(live_files, rolled)) <= ROLLED_FILES_MAX:
            return rolled
    return []


def rolled_row(
    group: Sequence[ManifestFile], types: Sequence[str], *, location: str, length: int, snapshot_id: int, sequence: int
) -> ManifestFile:
    """The manifest list's row for the manifest that replaces the group."""
    first_row_ids = [manifest["first_row_id"] for manifest in group if manifest["first_row_id"] is not None]
    return {
        **group[0],
        "manifest_path": location,
        "manifest_length": length,
        "sequence_number": sequence,
        "min_sequence_number": min(manifest["min_sequence_number"] for manifest in group),
        "added_snapshot_id": snapshot_id,
        "added_files_count": 0,
        "added_rows_count": 0,
        "deleted_files_count": 0,
        "deleted_rows_count": 0,
        "existing_files_count": sum(map(live_files, group)),
        "existing_rows_count": sum(map(live_rows, group)),
        "partitions": _merged_partitions(types, group),
        # Every entry has its own row id by now. The manifest's id only says that it needs no new ones.
        "first_row_id": min(first_row_ids, default=None),
    }


def _merged_partitions(types: Sequence[str], group: Sequence[ManifestFile]) -> list[Json] | None:
    """None if one of them has no summary, which is allowed: the merged summary is unknown then."""
    stated = [manifest["partitions"] for manifest in group]
    return None if None in stated else merged_summaries(types, stated)


def live_files(manifest: ManifestFile) -> int:
    return int((manifest["added_files_count"] or 0) + (manifest["existing_files_count"] or 0))


def live_rows(manifest: ManifestFile) -> int:
    return int((manifest["added_rows_count"] or 0) + (manifest["existing_rows_count"] or 0))


def _can_be_rolled(manifest: ManifestFile, lineage: bool) -> bool:
    plain = manifest["content"] == Content.DATA and manifest["key_metadata"] is None
    return plain and (not lineage or manifest["first_row_id"] is not None)


def _level(files: int) -> int:
    level = 0
    while files >= FAN_IN:
        files, level = files // FAN_IN, level + 1
    return level
