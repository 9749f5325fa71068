"""Snapshot summaries: what a snapshot added, and what the branch holds then.

Totals continue the parent's. Where the parent states none, or no number, nobody can know it without reading every
manifest, so it is left out, as Iceberg's own library does. What we say of our own commits has its names here too.
"""

from collections.abc import Mapping, Sequence

from lakestream.catalog.manifests.data_files import DataFile
from lakestream.catalog.spec.values import whole_number

JOB = "lakestream.job"
"""The compaction job that made the snapshot."""
LEDGER = "lakestream.ledger"
"""The object that says which offsets it brought, in which files."""
LEDGER_HASH = "lakestream.ledger-sha256"
WATERMARK = "lakestream.watermark"
"""How far the table is complete, by records' times."""
LAST_ROWS_MS = "lakestream.last-rows-ms"
"""When a job last brought rows, in snapshots that outlive the ones which did."""
RETENTION = "lakestream.retention"
"""How many files had no record left that the log keeps: the snapshot lets go of them."""

_TOTALS = {
    "total-data-files": "added-data-files",
    "total-records": "added-records",
    "total-files-size": "added-files-size",
    "total-delete-files": "added-delete-files",
    "total-position-deletes": "added-position-deletes",
    "total-equality-deletes": "added-equality-deletes",
}
"""Each total, and what adds to it."""


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
    """Of a snapshot that lets go of whole data files."""
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


def totals_after(parent: Mapping[str, str] | None, changes: Mapping[str, int]) -> dict[str, str]:
    """`changes` are by the names of what adds to a total; removals are negative."""
    before = dict.fromkeys(_TOTALS, "0") if parent is None else parent
    known = {total: number for total in _TOTALS if (number := whole_number(str(before.get(total, "")))) is not None}
    return {total: str(number + changes.get(_TOTALS[total], 0)) for total, number in known.items()}
