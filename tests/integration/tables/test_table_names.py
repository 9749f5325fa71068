"""The table of a topic is not always called like it: commands say which it is, and what is left of it."""

import json
from pathlib import Path
from typing import Any

from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.up_process import Done

KEPT = {"lakestream.table.on-topic-delete": "keep"}
DROPPED = {"lakestream.table.on-topic-delete": "drop"}


def topic(lake: RunningLake, *arguments: str) -> Done:
    done = lake.command("topic", *arguments, "--kafka", lake.kafka)
    assert done.returncode == 0, done.stderr
    return done


def described(lake: RunningLake, name: str) -> Any:
    return json.loads(topic(lake, "describe", name, "--json").stdout)


def make(lake: RunningLake, name: str, config: dict[str, str] | None = None) -> None:
    lake.create(name, 1, config)
    lake.compact()


def test_a_topic_that_is_made_again_has_its_name_and_the_kept_table_steps_aside(tmp_path: Path) -> None:
    with running_lake(tmp_path) as lake:
        lake.create("re", 1)
        assert described(lake, "re")["table"] is None
        assert "topic re, no table yet" in topic(lake, "describe", "re").stdout
        lake.compact()
        assert described(lake, "re")["table"] == "streams.re"
        lake.produce("re", [b"old"])
        lake.compact()
        deleted = topic(lake, "delete", "re")
        assert deleted.stdout == "topic re deleted\n"
        assert deleted.stderr.startswith("its table streams.re stays, as an ordinary table. ")
        make(lake, "re")
        assert described(lake, "re")["table"] == "streams.re"
        lake.produce("re", [b"new"])
        lake.compact()
        assert lake.json("sql", "SELECT decode(__value) AS value FROM re") == [{"value": "new"}]
        assert lake.json("sql", "SELECT count(*) AS n FROM re_kept") == [{"n": 1}]
        topic(lake, "delete", "re")
        make(lake, "re")
        tables = [row["name"] for row in lake.json("sql", "SHOW TABLES")]
        assert [name for name in tables if "__" not in name] == ["re", "re_kept", "re_kept_2"]


def test_names_that_become_alike_are_told_apart_by_their_topics(tmp_path: Path) -> None:
    with running_lake(tmp_path) as lake:
        for name in ("Shop.Orders-V2", "shop.orders_v2", "a.b__log", "plain"):
            make(lake, name)
        shown = lake.command("status").stdout
    assert "streams.shop_orders_v2 (topic Shop.Orders-V2)" in shown
    assert "streams.shop_orders_v2_2 (topic shop.orders_v2)" in shown
    assert "streams.a_b__log_topic (topic a.b__log)" in shown
    assert "streams.plain " in shown and "(topic plain)" not in shown


def test_what_becomes_of_the_table_is_said_by_the_rule_of_the_topic(tmp_path: Path) -> None:
    with running_lake(tmp_path) as lake:
        make(lake, "scratch", DROPPED)
        assert "its table streams.scratch is dropped as well" in topic(lake, "delete", "scratch").stderr
        make(lake, "ledger", KEPT)
        assert "its table streams.ledger stays" in topic(lake, "delete", "ledger").stderr
        assert [row["name"] for row in lake.json("sql", "SHOW TABLES")] == ["ledger"]


def test_the_gateway_of_another_cluster_names_no_table(tmp_path: Path) -> None:
    with running_lake(tmp_path / "one") as lake, running_lake(tmp_path / "two") as other:
        for each in (lake, other):
            make(each, "orders")
        done = other.command("topic", "describe", "orders", "--json", "--kafka", lake.kafka)
        assert json.loads(done.stdout)["table"] is None
        assert "another cluster" in done.stderr
