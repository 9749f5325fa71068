"""Trino through our catalog: ordinary tables of its own, and the tables of topics."""

import json
import os
from collections.abc import Iterator

import pytest

from benchmarks.peers.maven import Unavailable
from tests.engines.trino import PLUGINS, Refused, Trino, prepared, running_trino
from tests.integration.catalog.engines import pyiceberg_on
from tests.integration.tables.lake import RunningLake, running_lake

SOAK = "LAKESTREAM_SOAK"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(tmp_path_factory.mktemp("lake")) as running:
        running.produce("orders", [json.dumps({"id": at, "sku": f"sku-{at % 3}"}).encode() for at in range(100)])
        running.compact()
        yield running


@pytest.fixture(scope="module")
def trino(lake: RunningLake, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trino]:
    if not (PLUGINS / "libs").is_dir() and not os.environ.get(SOAK):
        pytest.skip("Trino has 230 MB: `make soak` fetches it, and from then on its tests run always")
    try:
        prepared()
    except Unavailable as missing:
        pytest.skip(str(missing))
    with running_trino(lake.uri, tmp_path_factory.mktemp("trino")) as running:
        yield running


def test_trino_creates_fills_merges_and_alters_a_table(trino: Trino, lake: RunningLake) -> None:
    shop = f"{lake.objects.as_uri()}/tables/shop"
    trino.ask(f"CREATE SCHEMA lake.shop WITH (location = '{shop}')")
    trino.ask("CREATE TABLE lake.shop.sales (id bigint, sku varchar, amount decimal(10, 2))")
    assert trino.ask("INSERT INTO lake.shop.sales VALUES (1, 'a', 1.5), (2, 'b', 2.5)") == [[2]]
    merged = trino.ask(
        "MERGE INTO lake.shop.sales s USING (VALUES (2, 'c'), (3, 'd')) AS n(id, sku) ON s.id = n.id "
        "WHEN MATCHED THEN UPDATE SET sku = n.sku WHEN NOT MATCHED THEN INSERT (id, sku) VALUES (n.id, n.sku)"
    )
    assert merged == [[2]]
    trino.ask("DELETE FROM lake.shop.sales WHERE id = 1")
    trino.ask("ALTER TABLE lake.shop.sales ADD COLUMN note varchar")
    trino.ask("UPDATE lake.shop.sales SET note = 'x' WHERE id = 3")
    found = trino.ask("SELECT id, sku, amount, note FROM lake.shop.sales ORDER BY id")
    assert found == [[2, "c", "2.50", None], [3, "d", None, "x"]]
    rows = pyiceberg_on(lake.uri).load_table("shop.sales").scan().to_arrow().sort_by("id").to_pylist()
    assert [(row["id"], row["sku"], row["note"]) for row in rows] == [(2, "c", None), (3, "d", "x")]


def test_trino_copies_a_topics_table_into_a_partitioned_one(trino: Trino, lake: RunningLake) -> None:
    trino.ask(f"CREATE SCHEMA lake.copies WITH (location = '{lake.objects.as_uri()}/tables/copies')")
    copied = trino.ask(
        "CREATE TABLE lake.copies.orders WITH (partitioning = ARRAY['sku']) AS SELECT id, sku FROM lake.streams.orders"
    )
    assert copied == [[100]]
    assert trino.ask("SELECT sku, count(*) FROM lake.copies.orders GROUP BY sku ORDER BY sku") == [
        ["sku-0", 34],
        ["sku-1", 33],
        ["sku-2", 33],
    ]


def test_trino_reads_a_topics_table_and_its_log_and_deletes_from_the_table_alone(
    trino: Trino, lake: RunningLake
) -> None:
    assert {"orders", "orders__log"} <= {name for (name,) in trino.ask("SHOW TABLES FROM lake.streams")}
    assert trino.ask("SELECT max(__offset), min(__timestamp) IS NULL FROM lake.streams.orders") == [[99, False]]
    assert trino.ask("DELETE FROM lake.streams.orders WHERE id < 10") == [[10]]
    assert trino.ask("SELECT count(*) FROM lake.streams.orders") == [[90]]
    assert trino.ask("SELECT count(*) FROM lake.streams.orders__log") == [[100]]
    lake.produce("orders", [b'{"id": 100, "sku": "new"}'])
    lake.compact()
    assert trino.ask("SELECT id, sku FROM lake.streams.orders WHERE __offset > 98 ORDER BY id") == [
        [99, "sku-0"],
        [100, "new"],
    ]


def test_trino_makes_no_topic_because_it_wants_a_location(trino: Trino) -> None:
    with pytest.raises(Refused, match="location must be set for streams"):
        trino.ask("CREATE TABLE lake.streams.clicks (id bigint)")


def test_a_refusal_of_the_catalog_reaches_trinos_user(trino: Trino) -> None:
    with pytest.raises(Refused, match="orders"):
        trino.ask("DROP TABLE lake.streams.orders")
