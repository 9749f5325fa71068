"""Name the files that the catalog writes for a topic's table, and read facts from such names.

    tables/<uuid>-log/metadata/00012-<uuid>.metadata.json               the table's version 12
                               00012-<attempt>-m0.avro                  manifests that were made for it
                               00012-<attempt>-snap-<snapshot>.avro     manifest lists

They lie next to the table's folder, not in it (ADR 4): engines that remove orphans list the table's folder, and would
remove files that a commit has written and not yet pointed to.

Every name begins with the version that it was written for. A commit moves the pointer from one version to the next, so
a version is reached once. Once a version has been reached, a file written for it is either referred to by now, or never
will be. That identifies leftovers of failed or crashed commits without a clock. If nobody commits for long, the upkeep
moves the table to its next version unchanged (table/upkeep/orphan_metadata.py).
"""

from dataclasses import dataclass

LEDGER_NAME = "ledger.json"
"""Lies in each job's own folder, next to the data files of the job."""
LOG_FILE_END = "-log.parquet"
"""The ending of data files whose rows only `log` shows (table/compaction/rewrite.py)."""
CLUSTERED_FILE_END = "-clustered.parquet"
"""The ending of data files that a clustering has written (table/arrangement/clustered_files.py)."""
_VERSION_DIGITS = 5
_ENDS = (".avro", ".metadata.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitNames:
    """Names for the objects of one attempt to commit."""

    folder: str
    version: int
    """The table's version after the commit."""
    attempt: str

    def manifest(self, number: int) -> str:
        return f"{self._start}-m{number}.avro"

    def manifest_list(self, snapshot_id: int) -> str:
        return f"{self._start}-snap-{snapshot_id}.avro"

    @property
    def _start(self) -> str:
        return f"{self.folder}/{numbered(self.version)}-{self.attempt}"


def numbered(version: int) -> str:
    return f"{version:0{_VERSION_DIGITS}d}"


def version_of(location: str) -> int:
    """The number that a name begins with, or -1 if the name has another form."""
    number = location.rpartition("/")[2].partition("-")[0]
    return int(number) if number.isdecimal() else -1


def is_awaiting(location: str, current_version: int) -> bool:
    """Whether this object belongs to a commit that may still be made."""
    return location.endswith(_ENDS) and version_of(location) > current_version


def is_settled(location: str, current_version: int) -> bool:
    """Whether this object belongs to a commit that has been made, or never will be."""
    return location.endswith(_ENDS) and 0 <= version_of(location) <= current_version
