"""What strangers may do to a topic's table: every update is allowed or refused, and each refusal says why."""

import pytest

from lakestream.catalog.spec.apply import TABLE_UPDATES
from lakestream.catalog.spec.values import Json
from lakestream.catalog.strangers.guards import DROPPABLE, RULES, check_change, check_drop
from lakestream.model.table_errors import Guarded
from tests.unit.catalog.samples import LOCATION, UUID, Lake, data_file, field, schema, snapshot

LAKE = Lake(2)
LAKE.append(data_file("a"))
TABLE = LAKE.metadata
HEAD = LAKE.head("main")
OLDER = TABLE["snapshots"][0]["snapshot-id"]
OFFSET = field(2_000_000_102, "__offset")
MINE = field(TABLE["last-column-id"] + 1, "mine", "int")
USER = (field(1, "id"), field(2, "name", "string"))


def with_operation(operation: str, **summary: str) -> Json:
    made = snapshot(5, sequence=9, parent=HEAD)
    return {"action": "add-snapshot", "snapshot": {**made, "summary": {"operation": operation, **summary}}}


def ref(action: str, name: str, **more: object) -> Json:
    return {"action": action, "ref-name": name, **more}


ALLOWED: list[Json] = [
    with_operation("overwrite"),
    with_operation("delete", **{"added-equality-deletes": "0"}),
    with_operation("replace"),
    ref("set-snapshot-ref", "main", type="branch", **{"snapshot-id": OLDER}),
    ref("set-snapshot-ref", "audit", type="branch", **{"snapshot-id": OLDER}),
    ref("set-snapshot-ref", "v1", type="tag", **{"snapshot-id": HEAD}),
    ref("remove-snapshot-ref", "audit"),
    {"action": "remove-snapshots", "snapshot-ids": [OLDER]},
    {"action": "assign-uuid", "uuid": UUID},
    {"action": "set-location", "location": LOCATION},
    {"action": "upgrade-format-version", "format-version": 3},
    {"action": "set-properties", "updates": {"write.delete.mode": "merge-on-read", "comment": "x", DROPPABLE: "true"}},
    {"action": "set-properties", "updates": {"write.parquet.compression-codec": "LZ4"}},
    {"action": "set-properties", "updates": {"write.parquet.compression-level": "22"}},
    {"action": "remove-properties", "removals": ["write.delete.mode"]},
    {"action": "add-schema", "schema": schema(*USER, MINE, OFFSET)},
    {"action": "add-schema", "schema": schema(*USER, {**MINE, "required": True, "initial-default": 0}, OFFSET)},
    {"action": "add-schema", "schema": schema(field(1, "renamed"), OFFSET)},
    {"action": "set-current-schema", "schema-id": -1},
    {"action": "set-current-schema", "schema-id": 0},
    {"action": "remove-schemas", "schema-ids": [7]},
    {"action": "add-spec", "spec": {"fields": [{"source-id": 1, "transform": "bucket[4]", "name": "b"}]}},
    {"action": "set-default-spec", "spec-id": -1},
    {"action": "remove-partition-specs", "spec-ids": [3]},
    {"action": "add-sort-order", "sort-order": {"order-id": 1, "fields": []}},
    {"action": "set-default-sort-order", "sort-order-id": -1},
    {"action": "set-statistics", "statistics": {"snapshot-id": HEAD}},
    {"action": "remove-statistics", "snapshot-id": HEAD},
    {"action": "set-partition-statistics", "partition-statistics": {"snapshot-id": HEAD}},
    {"action": "remove-partition-statistics", "snapshot-id": HEAD},
    {"action": "add-encryption-key", "encryption-key": {"key-id": "k"}},
    {"action": "remove-encryption-key", "key-id": "k"},
]
REFUSED: list[tuple[Json, str]] = [
    (with_operation("append"), "producing"),
    (with_operation("overwrite", **{"added-equality-deletes": "3"}), "equality"),
    (ref("set-snapshot-ref", "log", type="branch", **{"snapshot-id": OLDER}), "Kafka"),
    (ref("remove-snapshot-ref", "log"), "Kafka"),
    (ref("remove-snapshot-ref", "main"), "CREATE OR REPLACE"),
    ({"action": "remove-snapshots", "snapshot-ids": [OLDER, HEAD]}, "head"),
    ({"action": "assign-uuid", "uuid": "another"}, "uuid"),
    ({"action": "set-location", "location": LOCATION + "-2"}, "location"),
    ({"action": "set-properties", "updates": {"lakestream.topic": "x"}}, "configs"),
    ({"action": "remove-properties", "removals": ["lakestream.topic"]}, "configs"),
    ({"action": "remove-properties", "removals": ["lakestream.topic"], "updates": {"a": "b"}}, "configs"),
    ({"action": "set-properties", "updates": {"write.metadata.path": LOCATION}}, "write.metadata.path"),
    ({"action": "set-properties", "updates": {"write.parquet.compression-codec": "lzo"}}, "zstd, lz4"),
    ({"action": "set-properties", "updates": {"write.parquet.compression-level": "23"}}, "from 1 to 22"),
    ({"action": "set-properties", "updates": {"write.parquet.compression-level": "-1"}}, "from 1 to 22"),
    ({"action": "add-schema", "schema": schema(*USER)}, "__offset"),
    ({"action": "add-schema", "schema": schema(*USER, {**OFFSET, "type": "int"})}, "__offset"),
    ({"action": "add-schema", "schema": schema(*USER, {**OFFSET, "id": 3})}, "__offset"),
    ({"action": "add-schema", "schema": schema(*USER, OFFSET, field(9, "__mine"))}, "__mine"),
    ({"action": "add-schema", "schema": schema(*USER, OFFSET, field(9, "mine"))}, "field id 9"),
    ({"action": "add-schema", "schema": schema(*USER, OFFSET, {**MINE, "required": True})}, "make it optional"),
    ({"action": "add-schema", "schema": schema({**USER[0], "required": True}, OFFSET)}, "make it optional"),
    ({"action": "remove-partition-specs", "spec-ids": [0]}, "spec"),
    ({"action": "make-coffee"}, "not known"),
]


def test_there_is_a_rule_for_every_update() -> None:
    assert set(RULES) == set(TABLE_UPDATES)


def test_every_update_is_tried_here() -> None:
    assert {one["action"] for one in ALLOWED} == set(TABLE_UPDATES)


@pytest.mark.parametrize("update", ALLOWED, ids=lambda update: update["action"])
def test_allowed(update: Json) -> None:
    check_change(TABLE, [update])


@pytest.mark.parametrize(
    ("update", "reason"), REFUSED, ids=lambda value: value["action"] if isinstance(value, dict) else value
)
def test_refused_with_a_reason(update: Json, reason: str) -> None:
    with pytest.raises(Guarded, match=reason):
        check_change(TABLE, [{"action": "set-properties", "updates": {}}, update])


def test_a_schema_without_the_system_columns_cannot_be_made_current() -> None:
    hidden = {**TABLE, "schemas": [*TABLE["schemas"], {**schema(*USER), "schema-id": 1}]}
    with pytest.raises(Guarded, match="__offset"):
        check_change(hidden, [{"action": "set-current-schema", "schema-id": 1}])


def test_a_topics_table_is_dropped_only_if_it_says_so() -> None:
    with pytest.raises(Guarded, match="topic delete"):
        check_drop(TABLE, "streams.t")
    check_drop({**TABLE, "properties": {DROPPABLE: "true"}}, "streams.t")
