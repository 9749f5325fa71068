"""Which snapshots a table that gets a commit every few seconds can do without, and which files only they needed.

Heads of branches and tags stay, and the newest snapshots, in which readers may be. Only manifests and manifest lists
are named as superfluous here: data files belong to the log until retention takes them.
"""

from collections.abc import Iterable, Sequence

from lakestream.catalog.entries import ManifestFile
from lakestream.catalog.values import Json, Metadata

SNAPSHOTS_KEPT = 200
"""Half an hour of commits every ten seconds: readers that follow the table may fall behind by that much. Every commit
writes the metadata of all of them, so that more of them would make every commit dearer."""


def snapshots_to_expire(metadata: Metadata, *, keep: int = SNAPSHOTS_KEPT) -> list[Json]:
    """All but the newest `keep` and those that a branch or tag names, oldest first."""
    named = {ref["snapshot-id"] for ref in (metadata.get("refs") or {}).values()}
    by_age = sorted(metadata["snapshots"], key=lambda snapshot: snapshot.get("sequence-number", 0))
    return [snapshot for snapshot in by_age[: max(0, len(by_age) - keep)] if snapshot["snapshot-id"] not in named]


def superfluous_files(
    expired: Sequence[Json],
    expired_lists: Iterable[Sequence[ManifestFile]],
    kept_lists: Iterable[Sequence[ManifestFile]],
) -> tuple[str, ...]:
    """The manifest lists of the expired snapshots, and those manifests in them that no kept snapshot has."""
    needed = {row["manifest_path"] for rows in kept_lists for row in rows}
    manifests = {row["manifest_path"] for rows in expired_lists for row in rows}
    return (*(snapshot["manifest-list"] for snapshot in expired), *sorted(manifests - needed))
