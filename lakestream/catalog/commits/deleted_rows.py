"""Which data files may have deleted rows: what the delete manifests of a snapshot say about the files they refer to.

    a deletion vector           names its data file
    a file of position deletes  names it, or states the least and the greatest path of all rows that it deletes
    anything else               may delete rows of every file

The answer is on the safe side: a file that is not found here has no deleted rows.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lakestream.catalog.files.locations import plain_location
from lakestream.catalog.manifests.entries import Status

_POSITION_DELETES = 1
_EQUALITY_DELETES = 2
_FILE_PATH_ID = 2_147_483_546
"""The field id of `file_path` in files of position deletes, by Iceberg's specification."""


class DeletedRows(NamedTuple):
    """The data files from the path `first` to the path `last` may have deleted rows. None is no limit."""

    first: str | None
    last: str | None

    def may_touch(self, path: str) -> bool:
        plain = plain_location(path)
        return (self.first is None or self.first <= plain) and (self.last is None or plain <= self.last)


def deleted_rows(entries: Iterable[Mapping[str, Any]]) -> list[DeletedRows]:
    """`entries` are the rows of a delete manifest."""
    living = (entry["data_file"] for entry in entries if entry["status"] != Status.DELETED)
    return [_deleted_by(file) for file in living]


def deletes_by_value(entries: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of them deletes rows by their values (equality deletes)."""
    return any(
        entry["data_file"]["content"] == _EQUALITY_DELETES and entry["status"] != Status.DELETED for entry in entries
    )


def _deleted_by(file: Mapping[str, Any]) -> DeletedRows:
    if file["content"] != _POSITION_DELETES:
        return DeletedRows(None, None)
    if named := file.get("referenced_data_file"):
        return DeletedRows(plain_location(named), plain_location(named))
    return DeletedRows(_bound(file.get("lower_bounds")), _bound(file.get("upper_bounds")))


def _bound(bounds: Iterable[Mapping[str, Any]] | None) -> str | None:
    found = next((each["value"] for each in bounds or () if each["key"] == _FILE_PATH_ID), None)
    if found is None:
        return None
    try:
        return plain_location(bytes(found).decode())
    except UnicodeDecodeError:
        return None
