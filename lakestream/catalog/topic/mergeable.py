"""Which files of a topic's log may be merged, and on which branches the merged file takes their place.

on `log` and on `main`, without deleted rows   -> merged on both
on `log` alone                                 -> merged on `log`: `main` never had the rows, or has rewritten them
on `main` with deleted rows                    -> left alone: `main` needs the very file that its deletes name
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from lakestream.catalog.commits.branch_files import entries_of
from lakestream.catalog.commits.deleted_rows import DeletedRows
from lakestream.catalog.commits.replacements import Replacement
from lakestream.catalog.commits.table_state import TableState, has_lineage
from lakestream.catalog.files.locations import plain_location
from lakestream.catalog.manifests.data_files import DataFile
from lakestream.catalog.manifests.entries import EntryFormat, ManifestEntry
from lakestream.catalog.topic.rebuilding import is_being_rebuilt
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH
from lakestream.model.table_errors import LedgerConflict


class Standing(Enum):
    """Where else a file of the log is."""

    ON_MAIN = "on main"
    ON_LOG_ALONE = "on log alone"
    TIED = "tied"
    """It must stay as it is."""


class LogFile(NamedTuple):
    """A data file of the branch `log`."""

    path: str
    bytes: int
    standing: Standing
    first_row_id: int | None
    sequence_number: int
    """Rows without numbers of their own have this one, and ids from `first_row_id` on (format version 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedFiles:
    """Files that one merged file replaces, and those that a second one replaces, whose rows only `log` shows."""

    gone: frozenset[str]
    file: DataFile | None
    gone_from_log: frozenset[str]
    log_file: DataFile | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mergeable:
    """The files of a topic's table as one version of the table has them."""

    log: Mapping[str, LogFile]
    """By path."""
    has_lineage: bool
    is_rebuilt: bool
    """Whether `main` is being rebuilt. Files are not merged then: the rebuild counts those that `log` gets."""
    _main: Mapping[str, str]
    """Paths in the manifests of `main`, by their plain spelling."""

    def replacements(self, merges: Sequence[MergedFiles]) -> dict[str, Replacement]:
        """The replacements on each branch. `log` comes first, since it assigns row ids. Raises LedgerConflict if files
        have gone meanwhile, or must stay as they are."""
        if self.is_rebuilt:
            raise _changed()
        gone: dict[str, set[str]] = {LOG_BRANCH: set(), MAIN_BRANCH: set()}
        new: dict[str, list[DataFile]] = {LOG_BRANCH: [], MAIN_BRANCH: []}
        for merge in merges:
            gone[LOG_BRANCH] |= merge.gone | merge.gone_from_log
            new[LOG_BRANCH] += [file for file in (merge.file, merge.log_file) if file is not None]
            if self._standing(merge.gone) is Standing.ON_MAIN and merge.file is not None:
                gone[MAIN_BRANCH] |= {self._main[plain_location(path)] for path in merge.gone}
                new[MAIN_BRANCH].append(merge.file)
            if merge.gone_from_log and self._standing(merge.gone_from_log) is not Standing.ON_LOG_ALONE:
                raise _changed()
        return {ref: Replacement(frozenset(gone[ref]), tuple(new[ref])) for ref in gone if gone[ref]}

    def _standing(self, paths: frozenset[str]) -> Standing:
        found = {self.log[path].standing if path in self.log else Standing.TIED for path in paths}
        if len(found) > 1 or Standing.TIED in found:
            raise _changed()
        return found.pop() if found else Standing.ON_LOG_ALONE


def mergeable(state: TableState, deleted: Sequence[DeletedRows]) -> Mergeable:
    """`state` holds the entries of all data manifests of `log` and `main`; `deleted` is about `main`."""
    main = {plain_location(entry.path): entry.path for _, entry in entries_of(state, MAIN_BRANCH)}
    lineage = has_lineage(state.metadata)
    found = (_log_file(format, entry, main, deleted, lineage) for format, entry in entries_of(state, LOG_BRANCH))
    return Mergeable(
        log={file.path: file for file in found},
        has_lineage=lineage,
        is_rebuilt=is_being_rebuilt(state.metadata),
        _main=main,
    )


def _log_file(
    format: EntryFormat,
    entry: ManifestEntry,
    main: Mapping[str, str],
    deleted: Sequence[DeletedRows],
    lineage: bool,
) -> LogFile:
    standing = Standing.ON_LOG_ALONE
    if plain_location(entry.path) in main:
        standing = Standing.TIED if any(each.may_touch(entry.path) for each in deleted) else Standing.ON_MAIN
    if lineage and entry.first_row_id is None:
        standing = Standing.TIED  # the next commit gives its rows their ids
    return LogFile(entry.path, format.file_bytes(entry), standing, entry.first_row_id, entry.sequence_number or 0)


def _changed() -> LedgerConflict:
    return LedgerConflict("the files to merge have changed their places in the table: plan anew")
