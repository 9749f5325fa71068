"""New tables: from a request, or from nothing."""

import pytest

from lakestream.catalog.spec.creation import empty_table, format_version_of
from lakestream.model.table_errors import InvalidTableChange
from tests.unit.catalog.samples import LOCATION, NOW_MS, UUID, applied, field, schema, table


def test_a_new_table_is_version_2_and_empty() -> None:
    made = table()
    assert (made["format-version"], made["table-uuid"], made["location"]) == (2, UUID, LOCATION)
    assert (made["last-column-id"], made["current-schema-id"], made["last-partition-id"]) == (2, 0, 999)
    assert (made["snapshots"], made["refs"], made["current-snapshot-id"]) == ([], {}, -1)
    assert made["sort-orders"] == [{"order-id": 0, "fields": []}]
    assert "next-row-id" not in made


def test_version_3_comes_on_request_and_counts_rows() -> None:
    made = table(format_version=3)
    assert (made["format-version"], made["next-row-id"]) == (3, 0)
    assert "format-version" not in made["properties"]


def test_version_1_repeats_schema_and_spec() -> None:
    made = table(format_version=1)
    assert made["schema"] == made["schemas"][0]
    assert made["partition-spec"] == []
    upgraded = applied(made, {"action": "upgrade-format-version", "format-version": 2})
    assert "schema" not in upgraded and "partition-spec" not in upgraded


def test_partition_and_sort_fields_follow_the_fresh_ids() -> None:
    made = table(
        schema=schema(field(7, "ts", "timestamptz"), field(9, "id")),
        **{
            "partition-spec": {"fields": [{"source-id": 9, "transform": "bucket[4]", "name": "id_bucket"}]},
            "write-order": {
                "order-id": 5,
                "fields": [{"source-id": 7, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}],
            },
        },
    )
    (partition,) = made["partition-specs"][0]["fields"]
    assert (partition["source-id"], partition["field-id"], made["last-partition-id"]) == (2, 1000, 1000)
    (order,) = made["sort-orders"]
    assert (order["order-id"], order["fields"][0]["source-id"], made["default-sort-order-id"]) == (1, 1, 1)


@pytest.mark.parametrize("version", ["0", "4", "two", ""])
def test_an_unknown_format_version_is_refused(version: str) -> None:
    with pytest.raises(InvalidTableChange, match="version"):
        table(properties={"format-version": version})


def test_types_of_version_3_need_version_3() -> None:
    with pytest.raises(InvalidTableChange, match="upgrade"):
        table(schema=schema(field(1, "v", "variant")))
    assert table(format_version=3, schema=schema(field(1, "v", "variant")))["last-column-id"] == 1


def test_a_staged_table_comes_back_as_updates_and_is_the_same() -> None:
    """What Iceberg's library sends to create the table that it was handed staged."""
    staged = table(format_version=3)
    updates = [
        {"action": "assign-uuid", "uuid": staged["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": 3},
        {"action": "add-schema", "schema": staged["schemas"][0], "last-column-id": 2},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": staged["partition-specs"][0]},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": staged["sort-orders"][0]},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": staged["location"]},
        {"action": "set-properties", "updates": staged["properties"]},
    ]
    assert format_version_of(updates) == 3
    assert applied(empty_table(format_version=3, now_ms=NOW_MS), *updates, now_ms=NOW_MS) == staged
