"""How what the catalog itself writes for a topic's table is named, and what the names tell.

    tables/<uuid>-log/metadata/00012-<uuid>.metadata.json               the table's version 12
                               00012-<attempt>-m0.avro                  manifests that were made for it
                               00012-<attempt>-snap-<snapshot>.avro     manifest lists

They lie beside the table's folder (ADR 4): engines that remove orphans list the table's folder, and would take what a
commit has written and not yet pointed to.

Every name begins with the version that it was written for. A commit moves the pointer from one version to the next, so
a version is reached once: what was written for one that has been reached is either referred to by now, or never will
be. That is how leftovers of commits that failed or crashed are told, without a clock. Where nobody commits for long,
the table is moved to its next version as it is (table/upkeep/orphan_metadata.py).
"""

from dataclasses import dataclass

LEDGER_NAME = "ledger.json"
"""In each job's own folder, beside the data files that it wrote."""
_VERSION_DIGITS = 5
_ENDS = (".avro", ".metadata.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitNames:
    """For the objects of one attempt to commit."""

    folder: str
    version: int
    """Of the table, once the commit has been made."""
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
    """The number that a name begins with, or -1 where someone named it otherwise."""
    number = location.rpartition("/")[2].partition("-")[0]
    return int(number) if number.isdecimal() else -1


def is_awaiting(location: str, current_version: int) -> bool:
    """Whether this is an object of a commit that may still be made."""
    return location.endswith(_ENDS) and version_of(location) > current_version


def is_settled(location: str, current_version: int) -> bool:
    """Whether this is an object of a commit that has been made, or never will be."""
    return location.endswith(_ENDS) and 0 <= version_of(location) <= current_version
