"""Files of tables that were made elsewhere: whole ones are taken up, old ones too, and nothing that readers stop at."""

from contextlib import suppress
from typing import Any

import pytest

from lakestream.catalog.spec.apply import apply_updates
from lakestream.catalog.spec.creation import empty_table
from lakestream.catalog.spec.values import Json, Metadata
from lakestream.catalog.spec.whole.table import check_offered, completed
from lakestream.model.errors import LakestreamError
from lakestream.model.table_errors import InvalidTableChange
from tests.unit.catalog.samples import NOW_MS, add, applied, field, schema, snapshot, table, to_branch
from tests.unit.catalog.spoiled import BLOB, FILE, MAKING, MAKING_V3, SPEC, TAKING, spoiled
from tests.unit.catalog.test_rest_hostile import NOT_IN_PYICEBERG, problem_of
from tests.unit.catalog.test_rest_taken_up import from_long_ago

MISSING = object()
FIELD = SPEC["fields"][0]
WITHOUT_ID = {"source-id": 2, "name": "p", "transform": "identity"}
SORTED = {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}
STATISTICS = {**FILE, "file-footer-size-in-bytes": 1}
SPOILED_BLOBS: list[Json] = [{"type": None}, {"fields": [2**40]}, {"properties": {"a": 1}}]
MAIN = {"snapshot-id": 1, "type": "branch"}
LATE_MS = NOW_MS + 10**9
CHANGES: list[Json] = [
    *TAKING,
    {"action": "add-spec", "spec": {"fields": [{"source-id": 1, "name": "other", "transform": "bucket[8]"}]}},
    {"action": "add-sort-order", "sort-order": {"fields": [SORTED]}},
    {"action": "remove-snapshots", "snapshot-ids": [11]},
    {"action": "add-snapshot", "snapshot": snapshot(12, sequence=9)},
    {"action": "upgrade-format-version", "format-version": 3},
]


def whole(format_version: int = 2, /, **parts: Any) -> Metadata:
    """A table of one snapshot, with other parts: `_` for `-`."""
    sequence = 0 if format_version == 1 else 1
    rows = {"first-row-id": 0, "added-rows": 3} if format_version == 3 else {}
    made = applied(table(format_version=format_version), add(1, sequence=sequence, **rows), to_branch("main", 1))
    changed = {**made, **{name.replace("_", "-"): part for name, part in parts.items()}}
    return {name: part for name, part in changed.items() if part is not MISSING}


def other_schema(*fields: Json) -> list[Json]:
    return [*whole()["schemas"], {"schema-id": 1, **schema(*fields)}]


def other_spec(*fields: Json) -> list[Json]:
    return [*whole()["partition-specs"], {"spec-id": 1, "fields": list(fields)}]


def other_order(*fields: Json, id: int = 1) -> list[Json]:
    return [*whole()["sort-orders"], {"order-id": id, "fields": list(fields)}]


@pytest.mark.parametrize(
    "metadata",
    [
        *(whole(1), whole(2), whole(3), from_long_ago()),
        whole(1, last_partition_id=MISSING, last_sequence_number=MISSING, refs=MISSING),
        whole(1, sort_orders=MISSING, default_sort_order_id=MISSING),
        whole(snapshots=MISSING, refs=MISSING, current_snapshot_id=None, snapshot_log=MISSING),
        whole(statistics=MISSING, partition_statistics=MISSING, properties=MISSING, current_snapshot_id=1),
        whole(snapshots=[{name: part for name, part in snapshot(1).items() if name != "sequence-number"}]),
        whole(3, snapshots=[snapshot(1)]),
        whole(1, snapshots=[{"snapshot-id": 1, "timestamp-ms": 1, "manifests": ["a.avro"]}]),
        whole(partition_specs=other_spec({**FIELD, "source-id": 99})),  # of a column that has gone
        whole(1, partition_specs=other_spec(WITHOUT_ID)),
        whole(sort_orders=other_order({**SORTED, "source-id": 99})),
        whole(schemas=other_schema(field(1, "id", "timestamp_ns"))),
        whole(snapshot_log=[{"snapshot-id": 7, "timestamp-ms": NOW_MS + late} for late in (50_000, 0)]),
    ],
)
def test_what_readers_can_read_is_taken_up(metadata: Metadata) -> None:
    check_offered(metadata)


@pytest.mark.parametrize(
    "parts",
    [
        *({name: None} for name in ("refs", "snapshots", "properties", "statistics", "partition_statistics")),
        *({name: None} for name in ("schemas", "partition_specs", "sort_orders", "encryption_keys")),
        *({name: None} for name in ("snapshot_log", "metadata_log")),
        *({name: MISSING} for name in ("schemas", "partition_specs", "sort_orders", "last_partition_id")),
        *({name: MISSING} for name in ("last_sequence_number", "last_column_id")),
        *({"last_partition_id": None}, {"last_partition_id": 2**40}, {"last_column_id": 2**40}, {"location": ""}),
        {"format_version": 3},  # without next-row-id
        {"encryption_keys": [{}]},
        {"schemas": whole()["schemas"] * 2},
        {"schemas": other_schema(field(1, "id", "banana"))},
        {"schemas": [*whole()["schemas"], schema(field(1, "id"))]},
        {"schemas": [*whole()["schemas"], {"schema-id": 2**40, **schema(field(1, "id"))}]},
        {"partition_specs": []},
        {"partition_specs": whole()["partition-specs"] * 2},
        {"partition_specs": other_spec({**FIELD, "transform": 5})},
        {"partition_specs": other_spec({**FIELD, "transform": "hour"})},
        {"partition_specs": other_spec({**FIELD, "name": "name"})},
        {"partition_specs": other_spec({**FIELD, "field-id": None})},
        {"partition_specs": other_spec(WITHOUT_ID)},
        {"partition_specs": other_spec({"source-ids": [1], "field-id": 1000, "name": "p", "transform": "identity"})},
        {"sort_orders": []},
        {"sort_orders": whole()["sort-orders"] * 2},
        {"sort_orders": other_order({**SORTED, "direction": "up"})},
        {"sort_orders": other_order()},
        {"sort_orders": [{"order-id": 0, "fields": [SORTED]}]},
        {"sort_orders": other_order({**SORTED, "source-id": 99}), "default_sort_order_id": 1},
        {"snapshots": []},  # and main names one
        {"snapshots": [snapshot(1), snapshot(1)]},
        {"snapshots": [snapshot(1, sequence=9)]},
        {"snapshots": [snapshot(1, **{"parent-snapshot-id": None})]},
        {"snapshots": [snapshot(1, **{"timestamp-ms": "now"})]},
        {"snapshots": [snapshot(1, summary=None)]},
        {"snapshots": [snapshot(1, **{"key-id": 5})]},
        {"snapshots": [snapshot(1, **{"manifest-list": 5, "manifests": ["a"]})]},
        {"snapshots": [snapshot(1, **{"first-row-id": 1})]},
        {"snapshots": [snapshot(1, **{"added-rows": "many"})]},
        *({"refs": refs} for refs in ([], {"main": 1}, {"main": {**MAIN, "type": "twig"}}, {"b": {"type": "branch"}})),
        {"refs": {"main": MAIN, "t": {"type": "tag", "snapshot-id": 1, "min-snapshots-to-keep": 1}}},
        *({"current_snapshot_id": id} for id in (None, -1, 2, "1")),
        {"current_snapshot_id": 2, "refs": {}},
        {"refs": {"main": {**MAIN, "min-snapshots-to-keep": 2**40}}},
        {"statistics": [{"snapshot-id": 1}]},
        *({"statistics": [{**STATISTICS, "blob-metadata": [{**BLOB, **part}]}]} for part in SPOILED_BLOBS),
        {"partition_statistics": [{"snapshot-id": 1, "statistics-path": "p"}]},
        *({"snapshot_log": [entry]} for entry in ({"timestamp-ms": 1}, {"snapshot-id": 1, "timestamp-ms": LATE_MS})),
        *({"metadata_log": [{"timestamp-ms": 1, **entry}]} for entry in ({}, {"metadata-file": 5})),
        {"metadata_log": [{"metadata-file": "f", "timestamp-ms": LATE_MS}]},
        {"snapshot_log": [{"snapshot-id": 1, "timestamp-ms": NOW_MS - after} for after in (0, 70_000)]},
    ],
)
def test_what_readers_stop_at_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(InvalidTableChange):
        check_offered(whole(**parts))


def test_snapshots_of_version_1_have_no_sequence_numbers() -> None:
    with pytest.raises(InvalidTableChange, match="leave it out, or upgrade the table"):
        check_offered(whole(1, snapshots=[snapshot(1)], last_sequence_number=1))


def test_the_last_column_id_is_never_made_up() -> None:
    """Java does not, not even for files from long ago."""
    with pytest.raises(InvalidTableChange, match="'last-column-id' is missing"):
        check_offered({name: part for name, part in from_long_ago().items() if name != "last-column-id"})


def test_fields_of_version_1_are_numbered_all_or_none() -> None:
    specs = other_spec(FIELD, WITHOUT_ID)
    for parts in ({"partition_specs": specs}, {"partition_specs": MISSING, "partition_spec": specs[1]["fields"]}):
        with pytest.raises(InvalidTableChange, match="one for each"):
            check_offered(whole(1, **parts))


@pytest.mark.parametrize("making", [MAKING, MAKING_V3], ids=["version 2", "version 3"])
def test_whatever_is_taken_up_can_be_read_and_changed(making: list[Json]) -> None:
    """Every part of a good file is spoiled in turn. What is not refused, PyIceberg reads, and every update knows."""
    empty = empty_table(format_version=making[1]["format-version"], now_ms=NOW_MS)
    good = {**apply_updates(empty, making, now_ms=NOW_MS), "location": "memory:///tables/t"}
    check_offered(good)
    unreadable = []
    for where, metadata in spoiled(good):
        if not is_taken_up(metadata):
            continue
        if NOT_IN_PYICEBERG not in where and (problem := problem_of(metadata, "tables")) is not None:
            unreadable.append(f"{where}: {problem}")
        for update in CHANGES:
            with suppress(LakestreamError):
                apply_updates(completed(metadata), [update], now_ms=NOW_MS)
    assert unreadable == []


def is_taken_up(metadata: Metadata) -> bool:
    try:
        check_offered(metadata)
    except InvalidTableChange:
        return False
    return True
