"""What a change takes for granted: each requirement holds, or stops it."""

import pytest

from lakestream.catalog.spec.requirements import REQUIREMENTS, check_requirements, check_view_requirements
from lakestream.catalog.spec.values import Json
from lakestream.model.table_errors import CommitConflict, InvalidTableChange, TableExists, UnknownTable
from tests.unit.catalog.samples import UUID, add, applied, table, to_branch

HOLDING: list[Json] = [
    {"type": "assert-table-uuid", "uuid": UUID},
    {"type": "assert-table-uuid", "uuid": UUID.upper()},
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 1},
    {"type": "assert-ref-snapshot-id", "ref": "absent", "snapshot-id": None},
    {"type": "assert-ref-snapshot-id", "ref": "absent"},
    {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 2},
    {"type": "assert-current-schema-id", "current-schema-id": 0},
    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 999},
    {"type": "assert-default-spec-id", "default-spec-id": 0},
    {"type": "assert-default-sort-order-id", "default-sort-order-id": 0},
]
FAILING: list[Json] = [
    {"type": "assert-table-uuid", "uuid": "another"},
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 2},
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None},
    {"type": "assert-ref-snapshot-id", "ref": "absent", "snapshot-id": 1},
    {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 3},
    {"type": "assert-current-schema-id", "current-schema-id": 1},
    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1000},
    {"type": "assert-default-spec-id", "default-spec-id": 1},
    {"type": "assert-default-sort-order-id", "default-sort-order-id": 1},
]
MALFORMED: list[Json] = [
    {"type": "assert-table-uuid"},
    {"type": "assert-table-uuid", "uuid": None},
    {"type": "assert-table-uuid", "uuid": 5},
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": "1"},
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": True},
    {"type": "assert-ref-snapshot-id", "snapshot-id": 1},
    {"type": "assert-last-assigned-field-id"},
    {"type": "assert-current-schema-id", "current-schema-id": False},
    {"type": "assert-current-schema-id", "current-schema-id": None},
    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 2**40},
    {"type": "assert-default-spec-id", "default-spec-id": 0.0},
    {"type": "assert-default-sort-order-id", "default-sort-order-id": "0"},
    {"type": "assert-view-uuid"},
    {"type": "assert-view-uuid", "uuid": UUID},
    {"type": "assert-good-weather"},
    {"uuid": UUID},
]
TABLE = applied(table(), add(1), to_branch("main", 1))


@pytest.mark.parametrize("requirement", HOLDING)
def test_a_requirement_that_holds_stops_nothing(requirement: Json) -> None:
    check_requirements(TABLE, [requirement])


@pytest.mark.parametrize("requirement", FAILING)
def test_a_requirement_that_does_not_hold_is_a_conflict(requirement: Json) -> None:
    with pytest.raises(CommitConflict, match=r"^Requirement failed: .* != "):
        check_requirements(TABLE, [requirement])


def test_a_table_is_created_only_where_there_is_none() -> None:
    check_requirements(None, [{"type": "assert-create"}])
    with pytest.raises(TableExists, match=r"^Requirement failed: table already exists"):
        check_requirements(TABLE, [{"type": "assert-create"}])


def test_nothing_else_holds_of_a_table_that_is_not_there() -> None:
    for requirement in FAILING:
        with pytest.raises(UnknownTable):
            check_requirements(None, [requirement])


def test_every_requirement_is_tried_here() -> None:
    assert {one["type"] for one in FAILING} | {"assert-create"} == REQUIREMENTS


@pytest.mark.parametrize("requirement", MALFORMED)
def test_what_is_no_requirement_of_a_table_is_refused(requirement: Json) -> None:
    """It is no conflict: whoever sent it would load the table and send the same again, for ever."""
    with pytest.raises(InvalidTableChange):
        check_requirements(TABLE, [requirement])


def test_a_view_is_required_to_be_the_same() -> None:
    view = {"view-uuid": UUID}
    check_view_requirements(view, [{"type": "assert-view-uuid", "uuid": UUID.upper()}])
    with pytest.raises(CommitConflict, match=r"^Requirement failed: view UUID does not match"):
        check_view_requirements(view, [{"type": "assert-view-uuid", "uuid": "another"}])


@pytest.mark.parametrize("requirement", [*HOLDING, {"type": "assert-create"}, {"type": "assert-view-uuid"}])
def test_requirements_of_tables_are_none_of_views(requirement: Json) -> None:
    with pytest.raises(InvalidTableChange):
        check_view_requirements({"view-uuid": UUID}, [requirement])
