"""The one function that changes a table: every update of the specification."""

import copy

import pytest

from lakestream.catalog.spec.apply import TABLE_UPDATES
from lakestream.catalog.spec.values import Json, Metadata
from lakestream.model.table_errors import CommitConflict, InvalidTableChange
from tests.unit.catalog.samples import LOCATION, NOW_MS, UUID, add, applied, field, schema, snapshot, table, to_branch

SPECIFIED = {
    "assign-uuid upgrade-format-version add-schema set-current-schema add-spec set-default-spec add-sort-order",
    "set-default-sort-order add-snapshot set-snapshot-ref remove-snapshots remove-snapshot-ref set-location",
    "set-properties remove-properties set-statistics remove-statistics set-partition-statistics",
    "remove-partition-statistics remove-partition-specs remove-schemas add-encryption-key remove-encryption-key",
}


def sort_field(source: int, direction: str = "asc") -> Json:
    return {"source-id": source, "transform": "identity", "direction": direction, "null-order": "nulls-last"}


def add_spec_by(transform: str, source: int = 1) -> Json:
    named = {"source-id": source, "name": "p", "transform": transform}
    return {"action": "add-spec", "spec": {"fields": [named]}}


def test_every_update_of_the_specification_for_tables_is_known() -> None:
    assert set(TABLE_UPDATES) == {name for line in SPECIFIED for name in line.split()}


def test_the_base_is_never_changed() -> None:
    base = applied(table(), add(1), to_branch("main", 1))
    kept = copy.deepcopy(base)
    applied(
        base,
        add(2, sequence=2, parent=1),
        to_branch("main", 2),
        {"action": "set-properties", "updates": {"k": "v"}},
        {"action": "remove-snapshots", "snapshot-ids": [1]},
        {"action": "add-schema", "schema": schema(field(1, "id"))},
    )
    assert base == kept


def test_a_snapshot_is_added_once_and_again_only_after_it_was_removed() -> None:
    base = applied(table(), add(1), to_branch("main", 1))
    again = add(1, sequence=2)
    with pytest.raises(InvalidTableChange, match="has a snapshot 1 already"):
        applied(base, again)
    with pytest.raises(InvalidTableChange, match="has a snapshot 2 already"):
        applied(base, add(2, sequence=2), add(2, sequence=3))
    changed = applied(base, {"action": "remove-snapshots", "snapshot-ids": [1]}, again)
    assert [one["sequence-number"] for one in changed["snapshots"]] == [2]


def test_fields_that_nobody_knows_survive() -> None:
    base: Metadata = {**table(), "future-field": {"deep": [1, {"x": None}]}}
    changed = applied(base, add(1, future=[1]), to_branch("main", 1), {"action": "set-properties", "updates": {}})
    assert changed["future-field"] == base["future-field"]
    assert changed["snapshots"][0]["future"] == [1]


@pytest.mark.parametrize(
    "update",
    [
        {"action": "make-coffee"},
        {"no": "action"},
        {"action": "add-view-version", "view-version": {}},
        {"action": "set-current-schema"},
        {"action": "set-current-schema", "schema-id": 7},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "set-current-schema", "schema-id": True},
        {"action": "set-default-spec", "spec-id": 7},
        {"action": "set-default-sort-order", "sort-order-id": 7},
        {"action": "add-snapshot", "snapshot": "x"},
        {"action": "add-snapshot", "snapshot": {"snapshot-id": 1}},
        {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 99},
        {"action": "upgrade-format-version", "format-version": 1},
        {"action": "upgrade-format-version", "format-version": 9},
        {"action": "assign-uuid", "uuid": "another"},
        {"action": "remove-schemas", "schema-ids": [0]},
        {"action": "remove-partition-specs", "spec-ids": [0]},
        {"action": "set-properties", "updates": {"k": 1}},
        {"action": "remove-properties", "removals": [{}]},
        {"action": "add-schema", "schema": schema(field(1, "id", "banana"))},
        {"action": "add-schema", "schema": schema(field(2**31, "id"))},
        {"action": "add-schema", "schema": {**schema(field(1, "id")), "identifier-field-ids": [2]}},
        {"action": "add-spec", "spec": {"fields": [{"source-id": 9, "name": "p", "transform": "identity"}]}},
        {"action": "add-spec", "spec": {"fields": [{"source-id": 1, "name": "p", "transform": "identity"}] * 2}},
        {"action": "add-spec", "spec": {"fields": [{"source-ids": [], "name": "p", "transform": "identity"}]}},
        {"action": "add-sort-order", "sort-order": {"fields": [sort_field(9)]}},
        {"action": "add-sort-order", "sort-order": {"fields": [sort_field(1, direction="up")]}},
        {"action": "add-schema", "schema": schema(field(1, "id", "decimal(39,2)"))},
        {"action": "add-schema", "schema": {**schema(field(1, "id")), "identifier-field-ids": [1]}},  # not required
        add_spec_by("bucket[0]"),
        add_spec_by("day"),  # of a number
        add_spec_by("hour", source=2),  # of text
        add(1, summary={"operation": "guess"}),
        add(1, **{"sequence-number": -1}),
        add(1, **{"manifest-list": None}),
        add(1, **{"manifest-list": 5, "manifests": ["a.avro"]}),
        add(1, **{"first-row-id": "0", "added-rows": 3}),
    ],
)
def test_what_makes_no_sense_is_refused(update: Json) -> None:
    with pytest.raises(InvalidTableChange):
        applied(table(), update)


@pytest.mark.parametrize(
    "ref",
    [
        {"type": "branch", "min-snapshots-to-keep": 0},
        {"type": "branch", "max-ref-age-ms": -1},
        {"type": "tag", "max-snapshot-age-ms": 5},
        {"type": "tag", "min-snapshots-to-keep": 5},
    ],
)
def test_a_ref_that_readers_refuse_is_refused(ref: Json) -> None:
    with pytest.raises(InvalidTableChange):
        applied(table(), add(1), {"action": "set-snapshot-ref", "ref-name": "r", "snapshot-id": 1, **ref})


# --- snapshots and refs -------------------------------------------------------------------------------


def test_parts_of_a_snapshot_that_are_null_are_left_out() -> None:
    changed = applied(table(), add(1, **{"parent-snapshot-id": None, "schema-id": None, "summary": None}))
    assert not {"parent-snapshot-id", "schema-id", "summary"} & changed["snapshots"][0].keys()


def test_snapshots_of_version_1_have_no_sequence_numbers() -> None:
    base = table(format_version=1)
    applied(base, add(1, sequence=0), add(2, **{"sequence-number": None}))
    with pytest.raises(InvalidTableChange, match="leave it out, or upgrade the table"):
        applied(base, add(1))


def test_a_snapshot_is_added_and_named() -> None:
    changed = applied(table(), add(1), to_branch("main", 1))
    assert changed["snapshots"] == [snapshot(1)]
    assert (changed["current-snapshot-id"], changed["last-sequence-number"]) == (1, 1)
    assert changed["refs"] == {"main": {"type": "branch", "snapshot-id": 1}}
    assert changed["snapshot-log"] == [{"timestamp-ms": NOW_MS + 1, "snapshot-id": 1}]
    assert changed["last-updated-ms"] == NOW_MS + 1


def test_other_branches_and_tags_leave_main_alone() -> None:
    tag = {"action": "set-snapshot-ref", "ref-name": "v1", "type": "tag", "snapshot-id": 1, "max-ref-age-ms": 9}
    changed = applied(table(), add(1), to_branch("audit", 1, **{"min-snapshots-to-keep": 3}), tag)
    assert changed["current-snapshot-id"] == -1
    assert changed["snapshot-log"] == []
    assert changed["refs"] == {
        "audit": {"type": "branch", "snapshot-id": 1, "min-snapshots-to-keep": 3},
        "v1": {"type": "tag", "snapshot-id": 1, "max-ref-age-ms": 9},
    }


def test_main_is_never_a_tag() -> None:
    with pytest.raises(InvalidTableChange):
        applied(table(), add(1), {**to_branch("main", 1), "type": "tag"})


def test_a_snapshot_that_main_only_passed_through_leaves_no_history() -> None:
    changed = applied(table(), add(1), to_branch("main", 1), add(2, sequence=2, parent=1), to_branch("main", 2))
    assert [entry["snapshot-id"] for entry in changed["snapshot-log"]] == [2]


def test_history_before_a_removed_snapshot_is_gone() -> None:
    base = table()
    for id in (1, 2, 3):
        base = applied(base, add(id, sequence=id, parent=id - 1 or None), to_branch("main", id))
    changed = applied(base, {"action": "remove-snapshots", "snapshot-ids": [2]})
    assert [entry["snapshot-id"] for entry in changed["snapshot-log"]] == [3]
    assert [one["snapshot-id"] for one in changed["snapshots"]] == [1, 3]


def test_rolling_back_is_an_entry_of_history_at_its_own_time() -> None:
    base = applied(table(), add(1), to_branch("main", 1))
    base = applied(base, add(2, sequence=2, parent=1), to_branch("main", 2))
    back = applied(base, to_branch("main", 1), now_ms=NOW_MS + 5_000)
    assert [entry["snapshot-id"] for entry in back["snapshot-log"]] == [1, 2, 1]
    assert back["snapshot-log"][-1]["timestamp-ms"] == NOW_MS + 5_000


def test_refs_of_removed_snapshots_go_with_them() -> None:
    base = applied(table(), add(1), to_branch("main", 1), to_branch("b", 1))
    changed = applied(base, {"action": "remove-snapshots", "snapshot-ids": [1]})
    assert (changed["refs"], changed["current-snapshot-id"]) == ({}, -1)


def test_removing_main_leaves_its_snapshots() -> None:
    base = applied(table(), add(1), to_branch("main", 1))
    changed = applied(base, {"action": "remove-snapshot-ref", "ref-name": "main"})
    assert (changed["refs"], changed["current-snapshot-id"], len(changed["snapshots"])) == ({}, -1, 1)


def test_a_snapshot_is_added_once() -> None:
    base = applied(table(), add(1))
    with pytest.raises(InvalidTableChange):
        applied(base, add(1, sequence=2))


def test_a_snapshot_written_for_an_older_state_is_a_conflict() -> None:
    base = applied(table(), add(1), to_branch("main", 1))
    with pytest.raises(CommitConflict):
        applied(base, add(2, sequence=1, parent=1))


def test_time_never_goes_back() -> None:
    base = applied(table(), add(1), to_branch("main", 1))
    late = {"action": "add-snapshot", "snapshot": {**snapshot(2, sequence=2, parent=1), "timestamp-ms": 5}}
    changed = applied(base, late, to_branch("main", 2))
    assert changed["last-updated-ms"] == base["last-updated-ms"]
    assert [one["timestamp-ms"] for one in changed["snapshot-log"]] == [NOW_MS + 1, NOW_MS + 1]


# --- row lineage --------------------------------------------------------------------------------------


def test_row_ids_are_taken_by_the_snapshots_that_assign_them() -> None:
    base = table(format_version=3)
    base = applied(base, add(1, **{"first-row-id": 0, "added-rows": 10}))
    base = applied(base, add(2, sequence=2, parent=1, **{"first-row-id": 10, "added-rows": 5}))
    assert base["next-row-id"] == 15


@pytest.mark.parametrize("first", [0, 9])
def test_row_ids_are_never_given_twice(first: int) -> None:
    base = applied(table(format_version=3), add(1, **{"first-row-id": 0, "added-rows": 10}))
    with pytest.raises(CommitConflict):
        applied(base, add(2, sequence=2, parent=1, **{"first-row-id": first, "added-rows": 5}))


def test_version_3_wants_row_ids() -> None:
    with pytest.raises(InvalidTableChange, match="first-row-id"):
        applied(table(format_version=3), add(1))


def test_upgrading_begins_lineage() -> None:
    changed = applied(applied(table(), add(1)), {"action": "upgrade-format-version", "format-version": 3})
    assert (changed["format-version"], changed["next-row-id"]) == (3, 0)


# --- schemas, specs, orders ---------------------------------------------------------------------------


def test_a_schema_gets_the_next_id_and_is_found_again() -> None:
    wider = schema(field(1, "id"), field(2, "name", "string"), field(3, "more", "int"))
    base = applied(
        table(), {"action": "add-schema", "schema": wider}, {"action": "set-current-schema", "schema-id": -1}
    )
    assert (base["current-schema-id"], base["last-column-id"]) == (1, 3)
    again = applied(
        base,
        {"action": "add-schema", "schema": {**table()["schemas"][0], "schema-id": 9}},
        {"action": "set-current-schema", "schema-id": -1},
    )
    assert (again["current-schema-id"], len(again["schemas"]), again["last-column-id"]) == (0, 2, 3)
    assert [one["schema-id"] for one in applied(again, {"action": "remove-schemas", "schema-ids": [1]})["schemas"]] == [
        0
    ]


def test_a_spec_gets_the_next_id_and_is_found_again() -> None:
    bucket = {"source-id": 1, "transform": "bucket[8]", "name": "b"}
    base = applied(
        table(), {"action": "add-spec", "spec": {"fields": [bucket]}}, {"action": "set-default-spec", "spec-id": -1}
    )
    assert (base["default-spec-id"], base["last-partition-id"]) == (1, 1000)
    assert base["partition-specs"][1]["fields"] == [{**bucket, "field-id": 1000}]
    again = applied(
        base,
        {"action": "add-spec", "spec": {"spec-id": 5, "fields": []}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "remove-partition-specs", "spec-ids": [1]},
    )
    assert (again["default-spec-id"], [one["spec-id"] for one in again["partition-specs"]]) == (0, [0])


@pytest.mark.parametrize(
    "laid_out",
    [
        {"partition-spec": {"fields": [{"source-id": 2, "name": "p", "transform": "identity"}]}},
        {"write-order": {"order-id": 1, "fields": [sort_field(2)]}},
    ],
)
def test_a_column_that_the_layout_needs_cannot_go(laid_out: Json) -> None:
    without_it: list[Json] = [
        {"action": "add-schema", "schema": schema(field(1, "id"))},
        {"action": "set-current-schema", "schema-id": -1},
    ]
    with pytest.raises(InvalidTableChange, match="column 2"):
        applied(table(**laid_out), *without_it)
    plain: list[Json] = [
        {"action": "add-spec", "spec": {"fields": []}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
    ]
    assert applied(table(**laid_out), *without_it, *plain)["current-schema-id"] == 1


def test_a_column_that_only_a_void_field_needs_can_go() -> None:
    void = {"fields": [{"source-id": 2, "name": "p", "transform": "void"}]}
    changed = applied(
        table(**{"partition-spec": void}),
        {"action": "add-schema", "schema": schema(field(1, "id"))},
        {"action": "set-current-schema", "schema-id": -1},
    )
    assert changed["current-schema-id"] == 1


def test_a_partition_field_keeps_its_id_in_later_specs() -> None:
    bucket = {"source-id": 1, "transform": "bucket[8]", "name": "b"}
    day = {"source-id": 2, "transform": "truncate[4]", "name": "d"}
    base = applied(table(), {"action": "add-spec", "spec": {"fields": [bucket]}})
    base = applied(base, {"action": "add-spec", "spec": {"fields": [day, bucket]}})
    assert [one["field-id"] for one in base["partition-specs"][-1]["fields"]] == [1001, 1000]


def test_a_sort_order_gets_the_next_id_and_unsorted_is_0() -> None:
    by_id = {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}
    base = applied(
        table(),
        {"action": "add-sort-order", "sort-order": {"order-id": 9, "fields": [by_id]}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
    )
    assert (base["default-sort-order-id"], len(base["sort-orders"])) == (1, 2)
    again = applied(
        base,
        {"action": "add-sort-order", "sort-order": {"order-id": 9, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
    )
    assert (again["default-sort-order-id"], len(again["sort-orders"])) == (0, 2)


# --- the rest -----------------------------------------------------------------------------------------


def test_properties_are_set_and_removed() -> None:
    base = applied(table(), {"action": "set-properties", "updates": {"a": "1", "b": "2"}})
    changed = applied(base, {"action": "remove-properties", "removals": ["a", "absent"]})
    assert "a" not in changed["properties"] and changed["properties"]["b"] == "2"


def test_a_uuid_is_assigned_once_and_a_location_is_kept_plain() -> None:
    changed = applied(
        table(), {"action": "assign-uuid", "uuid": UUID.upper()}, {"action": "set-location", "location": LOCATION + "/"}
    )
    assert (changed["table-uuid"], changed["location"]) == (UUID, LOCATION)


@pytest.mark.parametrize("kind", ["statistics", "partition-statistics"])
def test_statistics_are_one_per_snapshot_and_go_with_it(kind: str) -> None:
    base = applied(table(), add(1), add(2, sequence=2))
    blobs: Json = {"file-footer-size-in-bytes": 4, "blob-metadata": []} if kind == "statistics" else {}
    file = {"snapshot-id": 1, "statistics-path": f"{LOCATION}/metadata/statistics", **blobs}
    for size in (10, 20):
        base = applied(base, {"action": f"set-{kind}", kind: {**file, "file-size-in-bytes": size}})
    assert base[kind] == [{**file, "file-size-in-bytes": 20}]
    assert applied(base, {"action": f"remove-{kind}", "snapshot-id": 1})[kind] == []
    assert applied(base, {"action": "remove-snapshots", "snapshot-ids": [1]})[kind] == []


def test_encryption_keys_are_kept_by_id() -> None:
    key = {"key-id": "k", "encrypted-key-metadata": "AA=="}
    base = applied(table(format_version=3), *[{"action": "add-encryption-key", "encryption-key": key}] * 2)
    assert base["encryption-keys"] == [key]
    assert applied(base, {"action": "remove-encryption-key", "key-id": "k"})["encryption-keys"] == []
