"""What a change takes for granted about the table it was made for: if it no longer holds, the change is made anew.

All nine requirements of the REST specification, each a row of the table below.
"""

from collections.abc import Callable, Sequence
from typing import Any

from lakestream.catalog.values import Json, Metadata, wanted
from lakestream.model.table_errors import CommitConflict, InvalidTableChange, TableExists, UnknownTable

_Actual = Callable[[Metadata], Any]

_EQUALS: dict[str, tuple[str, _Actual]] = {
    "assert-table-uuid": ("uuid", lambda table: table.get("table-uuid")),
    "assert-view-uuid": ("uuid", lambda view: view.get("view-uuid")),
    "assert-last-assigned-field-id": ("last-assigned-field-id", lambda table: table.get("last-column-id")),
    "assert-current-schema-id": ("current-schema-id", lambda table: table.get("current-schema-id")),
    "assert-last-assigned-partition-id": ("last-assigned-partition-id", lambda table: table.get("last-partition-id")),
    "assert-default-spec-id": ("default-spec-id", lambda table: table.get("default-spec-id")),
    "assert-default-sort-order-id": ("default-sort-order-id", lambda table: table.get("default-sort-order-id")),
}
"""Each with the name of what it expects, and what the table really has."""

REQUIREMENTS = frozenset({*_EQUALS, "assert-create", "assert-ref-snapshot-id"})


def check_requirements(metadata: Metadata | None, requirements: Sequence[Json]) -> None:
    """`metadata` is None where there is no table yet. Raises CommitConflict, TableExists, UnknownTable."""
    for requirement in requirements:
        _check(metadata, requirement)


def is_create(requirements: Sequence[Json]) -> bool:
    return any(requirement.get("type") == "assert-create" for requirement in requirements)


def _check(metadata: Metadata | None, requirement: Json) -> None:
    match wanted(requirement, "type", str):
        case "assert-create":
            if metadata is not None:
                raise TableExists("the table was to be created, and is there already: load it instead")
        case "assert-ref-snapshot-id":
            _check_ref(_existing(metadata), requirement)
        case kind if kind in _EQUALS:
            name, actual = _EQUALS[kind]
            _check_equal(kind, expected=requirement.get(name), found=actual(_existing(metadata)))
        case kind:
            raise InvalidTableChange(f"there is no requirement '{kind}': use one of {', '.join(sorted(REQUIREMENTS))}")


def _existing(metadata: Metadata | None) -> Metadata:
    if metadata is None:
        raise UnknownTable("the table does not exist: create it first")
    return metadata


def _check_ref(metadata: Metadata, requirement: Json) -> None:
    name = wanted(requirement, "ref", str)
    found = metadata.get("refs", {}).get(name, {}).get("snapshot-id")
    expected = requirement.get("snapshot-id")
    if found != expected:
        raise CommitConflict(
            f"the branch or tag '{name}' was expected at snapshot {expected} and is at {found}: "
            "someone else committed; load the table again, then make the change anew"
        )


def _check_equal(kind: str, *, expected: Any, found: Any) -> None:
    if isinstance(expected, str) and isinstance(found, str):
        expected, found = expected.lower(), found.lower()
    if expected != found:
        raise CommitConflict(
            f"{kind}: {expected} was expected and {found} is found: load the table again, then make the change anew"
        )
