"""Checks the chain of ledgers: every compaction commit records the offsets it added, and in which files.

    snapshot <- snapshot <- snapshot         the branch `log`, as far back as its snapshots are kept
       |           |           |
    [0, 100)   [100, 250)   [250, 400)       of partition 0: each starts where the one before it ended

A merge of files adds no offsets. Its ledger names the files that it replaces.

A gap is right only if records were deleted before compaction reached them: it lies below the log's start then.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lakestream.catalog.commits.summaries import JOB, LEDGER, LEDGER_HASH, MERGE
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.model.table import LOG_BRANCH
from lakestream.table.compaction.ledger import MERGE_VERSION, VERSION
from lakestream.table.verify.appended import AppendedStretches
from lakestream.table.verify.rows import DataFileRow, Range


class LedgerRef(NamedTuple):
    """A snapshot's reference to its ledger."""

    snapshot_id: int
    location: str
    sha256: str
    job: str


class LedgerFile(NamedTuple):
    path: str
    rows: int
    last_offsets: Mapping[int, int]
    """By partition."""


class FoundLedger(NamedTuple):
    ref: LedgerRef
    ranges: Mapping[int, Range]
    files: Sequence[LedgerFile]
    replaces: frozenset[str] = frozenset()
    """The files that were merged into `files`."""


class Chain(NamedTuple):
    refs: Sequence[LedgerRef]
    """Oldest first."""
    is_whole: bool
    """Whether the chain goes back to the table's first snapshot. Otherwise older snapshots have expired."""


def chain_of(metadata: Metadata) -> Chain:
    """The chain from the log's head back, from the metadata of `<table>__log`."""
    refs: list[LedgerRef] = []
    snapshot = by_id(metadata["snapshots"], "snapshot-id", metadata["current-snapshot-id"])
    for _ in metadata["snapshots"]:
        if snapshot is None:
            break
        summary = snapshot.get("summary") or {}
        if LEDGER in summary:
            job = summary.get(JOB) or summary.get(MERGE, "")
            refs.append(LedgerRef(snapshot["snapshot-id"], summary[LEDGER], summary.get(LEDGER_HASH, ""), job))
        parent = snapshot.get("parent-snapshot-id")
        if parent is None:
            return Chain(refs[::-1], is_whole=True)
        snapshot = by_id(metadata["snapshots"], "snapshot-id", parent)
    return Chain(refs[::-1], is_whole=False)


def read_ledger(ref: LedgerRef, content: bytes) -> FoundLedger | str:
    """The ledger, or a description of its problem."""
    if hashlib.sha256(content).hexdigest() != ref.sha256:
        return f"ledger {ref.location} is not the one that snapshot {ref.snapshot_id} was made with: its hash differs"
    found = json.loads(content)
    if found["version"] not in (VERSION, MERGE_VERSION):
        known = f"{VERSION} and {MERGE_VERSION}"
        return f"ledger {ref.location} has version {found['version']}; this program knows {known}: use a newer one"
    if found["job"] != ref.job:
        return f"ledger {ref.location} is of job {found['job']}, but snapshot {ref.snapshot_id} of job {ref.job}"
    ranges = {number: Range(start, end) for number, start, end in found["partitions"]}
    files = [_file(file) for file in found["files"] if LOG_BRANCH in file["branches"]]
    return FoundLedger(ref, ranges, files, frozenset(found.get("replaces", ())))


def chain_problems(
    ledgers: Sequence[FoundLedger],
    appended: AppendedStretches,
    *,
    is_whole: bool,
    log_starts: Mapping[int, int],
) -> Iterator[str]:
    """Gaps and overlaps. `log_starts` must be read after the ledgers."""
    ends: dict[int, int] = {}
    for ledger in ledgers:
        for number, range in ledger.ranges.items():
            before = appended.passed(number, ends.get(number, 0 if is_whole else range.start))
            if range.start < before:
                yield (
                    f"partition {number}: the ledger of job {ledger.ref.job} starts at {range.start}, "
                    f"but offsets below {before} were in the table already"
                )
            if range.start > max(before, log_starts.get(number, 0)) or range.end <= range.start:
                yield (
                    f"partition {number}: the ledger of job {ledger.ref.job} covers [{range.start}, {range.end}), "
                    f"but the one before it ended at {before}"
                )
            ends[number] = range.end


def chain_ends(ledgers: Sequence[FoundLedger]) -> dict[int, int]:
    """The end of each partition in its last ledger."""
    return {number: range.end for ledger in ledgers for number, range in ledger.ranges.items()}


def file_problems(
    ledgers: Sequence[FoundLedger],
    files: Sequence[DataFileRow],
    appended: AppendedStretches,
    *,
    is_whole: bool,
    log_starts: Mapping[int, int],
) -> Iterator[str]:
    """Contradictions between ledgers and manifests about the same files."""
    listed: dict[str, LedgerFile] = {}
    for ledger in ledgers:
        yield from _merge_problems(ledger, listed)
        listed = {path: file for path, file in listed.items() if path not in ledger.replaces}
        listed |= {file.path: file for file in ledger.files}
    present = {file.path: file for file in files}
    for path in sorted(listed.keys() & present.keys()):
        if listed[path].rows != present[path].rows:
            yield f"{path} has {listed[path].rows} rows by its ledger and {present[path].rows} by its manifest"
    for path in sorted(listed.keys() - present.keys()):
        kept = [number for number, last in listed[path].last_offsets.items() if last >= log_starts.get(number, 0)]
        if kept:
            yield f"{path} is in a ledger and holds records of partition {kept[0]}, but the log refers to it no more"
    if is_whole:
        for path in sorted(present.keys() - listed.keys() - appended.files):
            yield f"{path} is part of the log, but no ledger says so"


def _merge_problems(ledger: FoundLedger, before: Mapping[str, LedgerFile]) -> Iterator[str]:
    """A merge changes where rows lie, not how many there are. `before` are the files of earlier ledgers."""
    if not ledger.replaces or not ledger.replaces <= before.keys():
        return  # no merge, or of files whose own ledgers have expired
    rows, merged = sum(before[path].rows for path in ledger.replaces), sum(file.rows for file in ledger.files)
    if rows != merged:
        yield f"job {ledger.ref.job} merged files of {rows} rows into files of {merged} rows"


def _file(file: Json) -> LedgerFile:
    lasts: dict[int, int] = {}
    for number, _, last in file["spans"]:
        lasts[number] = max(last, lasts.get(number, -1))
    return LedgerFile(file["path"], file["rows"], lasts)
