"""Tables of topics: their names, and the log beside them."""

import pytest

from lakestream.catalog.topic_table import branch_of, branch_table, table_name
from tests.unit.catalog.samples import Lake, data_file, field


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


def test_a_name_tells_whose_log_it_means() -> None:
    assert (branch_of("orders__log"), branch_of("orders"), branch_of("__log")) == (("orders", "log"), None, None)
