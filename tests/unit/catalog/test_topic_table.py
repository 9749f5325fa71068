"""Tables of topics: their names, and the log beside them."""

import pytest

from lakestream.catalog.topic.topic_table import branch_of, branch_table, table_name
from tests.unit.catalog.samples import Lake, applied, data_file, field, schema


@pytest.mark.parametrize(
    ("topic", "taken", "name"),
    [
        ("orders", set(), "orders"),
        ("Shop.Orders-v2", set(), "shop_orders_v2"),
        ("files", set(), "files_topic"),
        ("Snapshots", set(), "snapshots_topic"),
        ("audit__log", set(), "audit__log_topic"),
        ("orders", {"orders"}, "orders_2"),
        ("a.b", {"a_b", "a_b_2"}, "a_b_3"),
        ("orders", {"orders__log"}, "orders_2"),
    ],
)
def test_a_table_is_named_after_its_topic_and_collides_with_nothing(topic: str, taken: set[str], name: str) -> None:
    assert table_name(topic, taken) == name


def test_the_log_is_read_as_main_with_every_system_column() -> None:
    lake = Lake(2)
    lake.append(data_file("a"))
    lake.diverge()
    hidden = field(2_000_000_001, "__form", "int")
    seen = branch_table(lake.metadata, "log", [field(2_000_000_102, "__offset"), hidden])
    assert seen["current-snapshot-id"] == lake.head("log") != lake.head("main")
    assert list(seen["refs"]) == ["main"]
    assert [one["name"] for one in seen["schemas"][-1]["fields"]] == ["id", "name", "__offset", "__form"]
    assert seen["table-uuid"] != lake.metadata["table-uuid"]
    assert seen["table-uuid"] == branch_table(lake.metadata, "log", [])["table-uuid"]
    assert lake.metadata["refs"].keys() == {"log", "main"}


def test_the_log_of_before_a_column_was_added_has_every_system_column_too() -> None:
    """Engines read a snapshot by the schema that it was made with: the head as well, until the next commit."""
    lake = Lake(2)
    lake.append(data_file("a"))
    added = {"action": "add-schema", "schema": schema(field(1, "id"), field(2_000_001_000, "mine"))}
    lake.metadata = applied(lake.metadata, added, {"action": "set-current-schema", "schema-id": -1})
    hidden = field(2_000_000_001, "__form", "int")
    seen = branch_table(lake.metadata, "log", [field(2_000_000_102, "__offset"), hidden])
    names = {one["schema-id"]: [column["name"] for column in one["fields"]] for one in seen["schemas"]}
    assert names == {0: ["id", "name", "__offset", "__form"], 1: ["id", "mine", "__offset", "__form"]}
    assert seen["current-schema-id"] == 1 and lake.snapshot("log")["schema-id"] == 0


def test_a_column_of_others_makes_way_for_one_that_the_log_shows_under_its_first_name() -> None:
    """Someone renames a column of the contract and adds one under its old name: both are on the log."""
    lake = Lake(2)
    changed = {**lake.metadata["schemas"][0]}
    changed["fields"] = [field(1, "id_old"), field(2_000_001_000, "ID"), field(2_000_001_001, "id_2")]
    lake.metadata = {**lake.metadata, "schemas": [changed]}
    (seen,) = branch_table(lake.metadata, "log", [field(1, "id"), field(2_000_000_102, "__offset")])["schemas"]
    assert [(one["id"] % 1_000, one["name"]) for one in seen["fields"]] == [
        *((1, "id"), (0, "ID_2"), (1, "id_2_2"), (102, "__offset")),
    ]


@pytest.mark.parametrize("branch", ["log", "quarantine"])
def test_nobody_can_tell_orphans_from_a_branch(branch: str) -> None:
    """What only `main` has would be nobody's there. So it has all snapshots, or another folder; and it says that its
    files are not its own: Iceberg's own library then removes none."""
    lake = Lake(2)
    lake.diverge()
    seen = branch_table(lake.metadata, branch, [])
    in_its_folder = seen["location"] == lake.metadata["location"]
    assert seen["snapshots"] == (lake.metadata["snapshots"] if in_its_folder else [])
    assert seen["properties"]["gc.enabled"] == "false" and "gc.enabled" not in lake.metadata["properties"]


def test_a_name_tells_whose_log_it_means() -> None:
    assert (branch_of("orders__log"), branch_of("orders"), branch_of("__log")) == (("orders", "log"), None, None)
