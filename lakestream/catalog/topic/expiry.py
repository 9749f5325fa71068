"""Chooses the snapshots to expire in a table with a commit every few seconds, and the files that only they needed.

    too many snapshots             -> all but the newest go, and those that an hourly tag names (hourly_tags.py)
    files left the log a while ago -> snapshots from before that go, since they alone keep the files; hourly tags too

Heads of branches always stay, and so do tags that others made. A file is dead when no remaining snapshot reaches it.
This covers manifest lists and manifests, and data files with their ledgers. For data files the manifests must be read,
which happens only if some may be dead.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from lakestream.catalog.commits.summaries import RETENTION
from lakestream.catalog.files.commit_names import LEDGER_NAME
from lakestream.catalog.manifests.entries import ManifestFile
from lakestream.catalog.spec.values import Json, Metadata
from lakestream.catalog.topic.hourly_tags import is_hourly

SNAPSHOTS_KEPT = 200
"""Half an hour of commits every ten seconds: readers that follow the table may fall behind by that much. Every commit
writes the metadata of all of them, and every engine that loads the table reads it. Encoding and packing takes 1.5 ms of
CPU with 225 snapshots (220 KB of JSON), 2.3 ms with 300, 5.2 ms with 500. For a longer past there is an hourly tag for
three days, and users can tag a snapshot: such tags stay.
"""
_STATISTICS = ("statistics", "partition-statistics")
_BEYOND_SHARE = 8
"""Expiry starts when there are an eighth more: each run is a version of the table of its own, and deletes the files of
all expired snapshots. With half as many more, one run took 30 ms to delete, and until then every commit wrote them all.
"""


def snapshots_to_expire(metadata: Metadata, *, keep: int, trimmed_before_ms: int | None = None) -> list[Json]:
    """Oldest first: those beyond `keep` once there are an eighth more, and those from before the last retention that
    was made before `trimmed_before_ms`."""
    beyond = keep + keep // _BEYOND_SHARE
    if trimmed_before_ms is None and len(metadata["snapshots"]) <= beyond:
        return []
    refs = metadata.get("refs") or {}
    named = {ref["snapshot-id"] for name, ref in refs.items() if not is_hourly(name)}
    tagged = {ref["snapshot-id"] for name, ref in refs.items() if is_hourly(name)}
    by_age = sorted(metadata["snapshots"], key=lambda snapshot: snapshot.get("sequence-number", 0))
    counted = [snapshot["snapshot-id"] for snapshot in by_age if snapshot["snapshot-id"] not in tagged]
    superfluous = set(counted[: len(counted) - keep]) if len(counted) > beyond else set()
    trimmed = [
        at
        for at, snapshot in enumerate(by_age)
        if trimmed_before_ms is not None
        and RETENTION in (snapshot.get("summary") or {})
        and snapshot["timestamp-ms"] <= trimmed_before_ms
    ]
    gone = (superfluous | {snapshot["snapshot-id"] for snapshot in by_age[: max(trimmed, default=0)]}) - named
    return [snapshot for snapshot in by_age if snapshot["snapshot-id"] in gone]


def superfluous_files(
    metadata: Metadata,
    expired: Sequence[Json],
    expired_lists: Iterable[Sequence[ManifestFile]],
    kept_lists: Iterable[Sequence[ManifestFile]],
) -> tuple[str, ...]:
    """The files that only expired snapshots have: manifest lists, manifests, and statistics that engines wrote."""
    gone = {snapshot["snapshot-id"] for snapshot in expired}
    kept = [snapshot for snapshot in metadata["snapshots"] if snapshot["snapshot-id"] not in gone]
    statistics = [one for name in _STATISTICS for one in metadata.get(name) or () if "statistics-path" in one]
    needed = {
        *(row["manifest_path"] for rows in kept_lists for row in rows),
        *(snapshot["manifest-list"] for snapshot in kept),
        *(one["statistics-path"] for one in statistics if one["snapshot-id"] not in gone),
    }
    had = [
        *(snapshot["manifest-list"] for snapshot in expired),
        *sorted({row["manifest_path"] for rows in expired_lists for row in rows}),
        *(one["statistics-path"] for one in statistics if one["snapshot-id"] in gone),
    ]
    return tuple(location for location in had if location not in needed)


def superfluous_ledgers(dead: Collection[str], living: Collection[str]) -> list[str]:
    """Ledgers of jobs whose last data file dies. Until then they stay, even if their snapshots expire."""
    folders = {path.rpartition("/")[0] for path in dead} - {path.rpartition("/")[0] for path in living}
    return [f"{folder}/{LEDGER_NAME}" for folder in sorted(folders)]


def may_free_data(metadata: Metadata, expired: Sequence[Json]) -> bool:
    """Whether data files may die with the snapshots. They cannot if snapshots only ever added files and each expired
    one is an ancestor of one that stays."""
    snapshots: Mapping[int, Json] = {snapshot["snapshot-id"]: snapshot for snapshot in metadata["snapshots"]}
    if any((one.get("summary") or {}).get("operation") != "append" for one in snapshots.values()):
        return True
    gone = {snapshot["snapshot-id"] for snapshot in expired}
    reached: set[int] = set()
    for id in snapshots.keys() - gone:
        while (parent := snapshots.get(id, {}).get("parent-snapshot-id")) is not None and parent not in reached:
            reached.add(parent)
            id = parent
    return not gone <= reached
