"""Snapshot summaries: what a snapshot added, and the totals of the branch then.

Totals continue the parent's. If the parent states none, or no number, only reading every manifest would tell, so the
total is left out, as in Iceberg's own library. The names of our own summary properties are here too.
"""

from collections.abc import Mapping, Sequence

from lakestream.catalog.manifests.data_files import DataFile
from lakestream.catalog.spec.values import whole_number

JOB = "lakestream.job"
"""The compaction job that made the snapshot."""
LEDGER = "lakestream.ledger"
"""The object that lists the offsets of the snapshot, and their files."""
LEDGER_HASH = "lakestream.ledger-sha256"
WATERMARK = "lakestream.watermark"
"""The event time up to which the table is complete."""
LAST_ROWS_MS = "lakestream.last-rows-ms"
"""The time when a job last brought rows. Snapshots that remove files carry it on, since earlier snapshots expire."""
RETENTION = "lakestream.retention"
"""How many files retention has removed from the last branch that had them. Earlier snapshots alone keep them."""
RETENTION_BYTES = "lakestream.retention-bytes"
"""The size of these files."""
MOVED_ON = "lakestream.retention-of-branch"
"""How many files retention has removed from branches while another branch keeps all of them."""

MERGE = "lakestream.merge"
"""The job that made the snapshot by merging files. Its ledger names the files that it replaces."""
CLUSTERING = "lakestream.clustering"
"""The job that made the snapshot of `main` by clustering files."""
REBUILD = "lakestream.rebuild"
"""The request of which the snapshot is a part: to make `main` again from `log`."""
REBUILT = "lakestream.rebuilt"
"""The request that made this snapshot of `main` from `log`."""

_TOTALS = {
    "total-data-files": "added-data-files",
    "total-records": "added-records",
    "total-files-size": "added-files-size",
    "total-delete-files": "added-delete-files",
    "total-position-deletes": "added-position-deletes",
    "total-equality-deletes": "added-equality-deletes",
}
"""Each total, and the summary fields that add to it."""


def append_summary(
    files: Sequence[DataFile], parent: Mapping[str, str] | None, extra: Mapping[str, str]
) -> dict[str, str]:
    partitions = {(file.get("spec-id", 0), str(file.get("partition"))) for file in files}
    added = {
        "added-data-files": len(files),
        "added-records": sum(file["record-count"] for file in files),
        "added-files-size": sum(file["file-size-in-bytes"] for file in files),
    }
    shown = {name: str(count) for name, count in added.items()} if files else {}
    return {
        "operation": "append",
        **shown,
        "changed-partition-count": str(len(partitions)),
        **totals_after(parent, added),
        **extra,
    }


def delete_summary(
    *, files: int, records: int, bytes: int, parent: Mapping[str, str] | None, extra: Mapping[str, str]
) -> dict[str, str]:
    """The summary of a snapshot that removes whole data files."""
    gone = {"added-data-files": -files, "added-records": -records, "added-files-size": -bytes}
    return {
        "operation": "delete",
        "deleted-data-files": str(files),
        "deleted-records": str(records),
        "removed-files-size": str(bytes),
        "changed-partition-count": "1",
        **totals_after(parent, gone),
        **extra,
    }


def replace_summary(
    files: Sequence[DataFile],
    *,
    files_gone: int,
    records_gone: int,
    bytes_gone: int,
    parent: Mapping[str, str] | None,
    extra: Mapping[str, str],
) -> dict[str, str]:
    """The summary of a snapshot in which other files have the same rows."""
    records, size = (sum(file[name] for file in files) for name in ("record-count", "file-size-in-bytes"))
    changes = {
        "added-data-files": len(files) - files_gone,
        "added-records": records - records_gone,
        "added-files-size": size - bytes_gone,
    }
    return {
        "operation": "replace",
        "added-data-files": str(len(files)),
        "deleted-data-files": str(files_gone),
        "added-records": str(records),
        "deleted-records": str(records_gone),
        "added-files-size": str(size),
        "removed-files-size": str(bytes_gone),
        "changed-partition-count": "1",
        **totals_after(parent, changes),
        **extra,
    }


def totals_after(parent: Mapping[str, str] | None, changes: Mapping[str, int]) -> dict[str, str]:
    """`changes` are by the names of the summary fields; removals are negative."""
    before = dict.fromkeys(_TOTALS, "0") if parent is None else parent
    known = {total: number for total in _TOTALS if (number := whole_number(str(before.get(total, "")))) is not None}
    return {total: str(number + changes.get(_TOTALS[total], 0)) for total, number in known.items()}
