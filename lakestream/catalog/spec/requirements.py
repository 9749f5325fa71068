"""Checks the requirements of a change: if one no longer holds, the client makes the change again.

All nine requirements of the REST specification: eight of tables, one of views. A missing or mistyped value is reported
as an error and never compared: no client could make it hold by reading the table again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lakestream.catalog.spec.values import Json, Metadata, optional, wanted, wanted_int
from lakestream.model.table_errors import CommitConflict, InvalidTableChange, TableExists, UnknownTable


class _Equal(NamedTuple):
    expected: str
    """The requirement's field with the expected value."""
    kind: Callable[[Json, str], Any]
    """The function that reads that field."""
    found: str
    """The field of the table or view to compare with."""
    broken: str
    """What Iceberg's own catalog says when they differ."""


def _uuid(value: Json, name: str) -> str:
    return wanted(value, name, str).lower()


_OF_TABLES = {
    "assert-table-uuid": _Equal("uuid", _uuid, "table-uuid", "UUID does not match: expected"),
    "assert-last-assigned-field-id": _Equal(
        "last-assigned-field-id", wanted_int, "last-column-id", "last assigned field id changed: expected id"
    ),
    "assert-current-schema-id": _Equal(
        "current-schema-id", wanted_int, "current-schema-id", "current schema changed: expected id"
    ),
    "assert-last-assigned-partition-id": _Equal(
        "last-assigned-partition-id", wanted_int, "last-partition-id", "last assigned partition id changed: expected id"
    ),
    "assert-default-spec-id": _Equal(
        "default-spec-id", wanted_int, "default-spec-id", "default partition spec changed: expected id"
    ),
    "assert-default-sort-order-id": _Equal(
        "default-sort-order-id", wanted_int, "default-sort-order-id", "default sort order changed: expected id"
    ),
}
_OF_VIEWS = {"assert-view-uuid": _Equal("uuid", _uuid, "view-uuid", "view UUID does not match: expected")}

REQUIREMENTS = frozenset({*_OF_TABLES, "assert-create", "assert-ref-snapshot-id"})
"""The requirements of tables."""


def check_requirements(metadata: Metadata | None, requirements: Sequence[Json]) -> None:
    """`metadata` is None if there is no table yet. Raises CommitConflict, TableExists, UnknownTable."""
    for requirement in requirements:
        match wanted(requirement, "type", str):
            case "assert-create":
                if metadata is not None:
                    raise TableExists("Requirement failed: table already exists. Load it instead")
            case "assert-ref-snapshot-id":
                _check_ref(_existing(metadata), requirement)
            case kind:
                _check_equal(_known(kind, _OF_TABLES, REQUIREMENTS), requirement, _existing(metadata))


def check_view_requirements(view: Metadata, requirements: Sequence[Json]) -> None:
    """Raises CommitConflict."""
    for requirement in requirements:
        _check_equal(_known(wanted(requirement, "type", str), _OF_VIEWS, _OF_VIEWS), requirement, view)


def is_create(requirements: Sequence[Json]) -> bool:
    return any(requirement.get("type") == "assert-create" for requirement in requirements)


def _known(kind: str, equals: Mapping[str, _Equal], all: Iterable[str]) -> _Equal:
    if kind not in equals:
        raise InvalidTableChange(f"there is no requirement '{kind}' here: use one of {', '.join(sorted(all))}")
    return equals[kind]


def _existing(metadata: Metadata | None) -> Metadata:
    if metadata is None:
        raise UnknownTable("Table does not exist. Create it first")
    return metadata


def _check_ref(metadata: Metadata, requirement: Json) -> None:
    """A null snapshot means that the ref must not exist. PyIceberg leaves the field out then."""
    name, expected = wanted(requirement, "ref", str), optional(requirement, "snapshot-id", int)
    found = metadata.get("refs", {}).get(name, {}).get("snapshot-id")
    if found != expected:
        raise CommitConflict(
            f"Requirement failed: branch or tag {name} has changed: expected id {expected} != {found}. "
            "Someone else committed; load the table again, then make the change anew"
        )


def _check_equal(equal: _Equal, requirement: Json, metadata: Metadata) -> None:
    expected, found = equal.kind(requirement, equal.expected), metadata.get(equal.found)
    if expected != (found.lower() if isinstance(found, str) else found):
        raise CommitConflict(
            f"Requirement failed: {equal.broken} {expected} != {found}. Load it again, then make the change anew"
        )
