"""Rates a table: good, fair or poor, with the reason and the command to run for each thing that is not good. Pure.

A table is as good as the worst of its parts. The bounds leave room for what the pipeline's own work looks like between
two merges, so a table that it keeps up with is good, and advice names something that helps.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from lakestream.administration.condition.figures import TableFigures

MIB = 1024 * 1024
SPARE_FILES = 64
"""Files beyond those that the bytes fill: what merging leaves when it keeps up."""
MANY_FILES = 512
MANIFESTS = 100
MANY_MANIFESTS = 1_000
FILES_OF_A_MANIFEST = 1_000
"""Manifests of the log are rolled together up to four times as many."""
PLANNING_BYTES = 16 * MIB
MANY_PLANNING_BYTES = 128 * MIB
SNAPSHOTS = 500
"""The table keeps some 200 by itself, and 72 hourly tags."""
MANY_SNAPSHOTS = 2_000
DELETE_FILES = 100
MANY_DELETE_FILES = 1_000
DELETED_SHARE = 0.05
MUCH_DELETED_SHARE = 0.3
EXTRA_COPIES = 0.5
MANY_EXTRA_COPIES = 2.0


class Condition(StrEnum):
    GOOD = "good"
    FAIR = "fair"
    POOR = "poor"


_ORDER = list(Condition)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    part: str
    """files, deletes, manifests, snapshots or bytes."""
    condition: Condition
    problem: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedTable:
    """What is asked about one table, besides its figures."""

    topic: str
    name: str
    """namespace.name"""
    figures: TableFigures
    log_files: int
    extra_bytes: int
    """Bytes at rest beyond one copy, without what lies in the WAL too."""
    bytes_by_others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    condition: Condition
    findings: tuple[Finding, ...]
    """The worst first; none if the table is good."""


def rating_of(table: RatedTable) -> Rating:
    found = sorted(
        (finding for look in _LOOKS for finding in look(table)),
        key=lambda finding: _ORDER.index(finding.condition),
        reverse=True,
    )
    return Rating(condition=found[0].condition if found else Condition.GOOD, findings=tuple(found))


def _files(table: RatedTable) -> Iterator[Finding]:
    figures, needed = table.figures, table.figures.files_needed
    spare = figures.files - needed
    if spare <= max(SPARE_FILES, needed // 2):
        return
    poor = spare > max(MANY_FILES, 3 * needed)
    small = "" if not figures.small_files else f", {figures.small_share:.0%} of them small"
    merged_by_us = figures.format_version < 3 and table.log_files > needed + SPARE_FILES
    yield Finding(
        part="files",
        condition=Condition.POOR if poor else Condition.FAIR,
        problem=f"{figures.files} files{small}, where its bytes fill {needed}",
        advice=f"Run `lakestream maintain {table.topic}`" if merged_by_us else _engine("rewrite_data_files", table),
    )


def _deletes(table: RatedTable) -> Iterator[Finding]:
    figures = table.figures
    share = figures.deleted_rows / figures.rows if figures.rows else 0.0
    condition = max(
        _by(figures.delete_files, DELETE_FILES, MANY_DELETE_FILES),
        _by(share, DELETED_SHARE, MUCH_DELETED_SHARE),
        key=_ORDER.index,
    )
    if condition is not Condition.GOOD:
        yield Finding(
            part="deletes",
            condition=condition,
            problem=f"{figures.delete_files} delete files with {share:.0%} of its rows, which every query reads",
            advice=_engine("rewrite_data_files", table, "options => map('delete-file-threshold', '1')"),
        )


def _manifests(table: RatedTable) -> Iterator[Finding]:
    figures = table.figures
    usual = figures.files // FILES_OF_A_MANIFEST
    condition = max(
        _by(figures.manifests - usual, MANIFESTS, MANY_MANIFESTS),
        _by(figures.planning_bytes, PLANNING_BYTES, MANY_PLANNING_BYTES),
        key=_ORDER.index,
    )
    if condition is not Condition.GOOD:
        yield Finding(
            part="manifests",
            condition=condition,
            problem=f"{figures.manifests} manifests of {figures.planning_bytes / MIB:.1f} MiB, which a query reads "
            "before it begins",
            advice=_engine("rewrite_manifests", table),
        )


def _snapshots(table: RatedTable) -> Iterator[Finding]:
    condition = _by(table.figures.snapshots, SNAPSHOTS, MANY_SNAPSHOTS)
    if condition is not Condition.GOOD:
        yield Finding(
            part="snapshots",
            condition=condition,
            problem=f"{table.figures.snapshots} snapshots in its metadata, which every load of the table reads; tags "
            "and branches of others keep those that do not expire",
            advice=f'Run `lakestream sql --engine spark "SELECT * FROM lake.{table.name}.refs"`, and drop what nobody '
            "needs",
        )


def _bytes(table: RatedTable) -> Iterator[Finding]:
    one_copy = max(table.figures.bytes, 1)
    condition = _by(table.extra_bytes / one_copy, EXTRA_COPIES, MANY_EXTRA_COPIES)
    if condition is Condition.GOOD or table.extra_bytes < table.figures.target_bytes:
        return
    by_others = 2 * table.bytes_by_others > table.extra_bytes
    yield Finding(
        part="bytes",
        condition=condition,
        problem=f"{table.extra_bytes / MIB:.0f} MiB at rest beyond one copy of its {one_copy / MIB:.0f} MiB",
        advice=_engine("expire_snapshots", table)
        if by_others
        else "Wait until the grace (wal.grace_ms) of what retention let go of is over",
    )


_LOOKS: tuple[Callable[[RatedTable], Iterator[Finding]], ...] = (_files, _deletes, _manifests, _snapshots, _bytes)


def _by(number: float, fair: float, poor: float) -> Condition:
    if number > poor:
        return Condition.POOR
    return Condition.FAIR if number > fair else Condition.GOOD


def _engine(procedure: str, table: RatedTable, *more: str) -> str:
    arguments = ", ".join((f"table => '{table.name}'", *more))
    return f'Run `lakestream sql --engine spark "CALL lake.system.{procedure}({arguments})"`'
