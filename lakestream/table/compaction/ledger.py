"""The ledger: which offsets a commit adds to a table, by partition and file, and where each partition ends then.

    {"version": 1, "job": ..., "topic": ..., "table": ..., "partitions": [[number, start, end], ...],
     "files": [{"path": ..., "branches": ["log", "main"], "rows": ..., "spans": [[number, base, last], ...]}]}

An object next to the job's files. The snapshot's summary names the ledger, its hash and the job. So anyone can follow
the chain of a table's commits without Lakestream: each ledger starts where the one before it ended.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakestream.catalog.commits.summaries import JOB, LEDGER, LEDGER_HASH, WATERMARK
from lakestream.catalog.files.commit_names import LEDGER_NAME
from lakestream.catalog.manifests.data_files import DataFile
from lakestream.model.job import JobId
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH, QUARANTINE_BRANCH
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.table.compaction.plan import PlannedJob
from lakestream.table.compaction.task import TaskResult

VERSION = 1
MERGE_VERSION = 2
"""A ledger of merged files (table/merging/ledger.py) also names the files that these replace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    location: str
    content: bytes
    summary: Mapping[str, str]
    """The snapshot's properties about the job and this ledger."""


def ledger_of(job: JobId, plan: PlannedJob, results: Sequence[TaskResult], *, folder: str) -> Ledger:
    content = {
        "version": VERSION,
        "job": job,
        "topic": plan.topic.hex(),
        "table": plan.table,
        "partitions": [[each.number, each.start, each.end] for each in plan.ranges],
        "files": listed_files(results),
    }
    return written_ledger(content, folder=folder, summary={JOB: job, **_watermark(plan)})


def written_ledger(content: Mapping[str, object], *, folder: str, summary: Mapping[str, str]) -> Ledger:
    """The ledger with this content, and a summary that names it besides what `summary` says."""
    encoded = json.dumps(content, separators=(",", ":")).encode()
    location = f"{folder}/{LEDGER_NAME}"
    hashed = hashlib.sha256(encoded).hexdigest()
    return Ledger(location=location, content=encoded, summary={**summary, LEDGER: location, LEDGER_HASH: hashed})


def listed_files(results: Sequence[TaskResult]) -> list[dict[str, object]]:
    return [
        *(_file(result.file, (LOG_BRANCH, MAIN_BRANCH)) for result in results if result.file),
        *(_file(result.log_file, (LOG_BRANCH,)) for result in results if result.log_file),
    ]


def files_by_branch(results: Sequence[TaskResult]) -> dict[str, list[DataFile]]:
    """Branches without files are left out. `log` comes first, since it assigns row ids."""
    shared = [data_file(result.file) for result in results if result.file]
    log_only = [data_file(result.log_file) for result in results if result.log_file]
    set_aside = [data_file(result.quarantine_file) for result in results if result.quarantine_file]
    optional = {MAIN_BRANCH: shared, QUARANTINE_BRANCH: set_aside}
    return {LOG_BRANCH: [*shared, *log_only]} | {branch: files for branch, files in optional.items() if files}


def data_file(file: FileDescriptor) -> DataFile:
    """The file in the catalog's form."""
    return {
        "content": "data",
        "file-path": file.path,
        "file-format": "parquet",
        "partition": [],
        "record-count": file.record_count,
        "file-size-in-bytes": file.file_size_bytes,
        "column-sizes": _pairs(file.column_sizes),
        "value-counts": _pairs(file.value_counts),
        "null-value-counts": _pairs(file.null_value_counts),
        "nan-value-counts": _pairs(file.nan_value_counts),
        "lower-bounds": _pairs({field: bound.hex() for field, bound in file.lower_bounds.items()}),
        "upper-bounds": _pairs({field: bound.hex() for field, bound in file.upper_bounds.items()}),
        "split-offsets": list(file.split_offsets),
        "sort-order-id": 0,
    }


def _file(file: FileDescriptor, branches: Sequence[str]) -> dict[str, object]:
    spans = [[rows.partition, rows.base_offset, rows.last_offset] for rows in file.partitions]
    return {"path": file.path, "branches": branches, "rows": file.record_count, "spans": spans}


def _watermark(plan: PlannedJob) -> dict[str, str]:
    """The event time up to which the table is complete: the least over the partitions that moved.

    Idle partitions, which may never get another record, do not count. There is no watermark while a partition has no
    times."""
    least = min(each.max_timestamp_ms for each in plan.ranges)
    return {WATERMARK: str(least)} if least >= 0 else {}


def _pairs(values: Mapping[int, object]) -> dict[str, list[object]]:
    return {"keys": list(values), "values": list(values.values())}
