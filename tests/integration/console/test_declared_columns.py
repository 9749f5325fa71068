"""Topics with declared columns, made by a command: what CREATE TABLE makes, without SQL."""

import json
from typing import Any

import pytest

from lakestream.cli.client.gateway_client import ask_gateway
from lakestream.cli.service import Gateway
from lakestream.settings.address import parse_http_address
from tests.integration.up_process import Done, Up, command


def run(up: Up, *arguments: str) -> Done:
    return command(*arguments, "--http", up.http)


def made(up: Up, name: str, *options: str) -> Done:
    return run(up, "topic", "create", name, *options, "--kafka", up.kafka)


def sql(up: Up, query: str) -> Any:
    done = run(up, "sql", query, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_topic_is_made_with_columns_and_filled_from_both_sides(up: Up) -> None:
    done = made(up, "kiosk", "--columns", "id bigint, sku string", "--key", "sku", "--partitions", "2")
    assert (done.returncode, done.stdout) == (0, "topic kiosk created\n"), done.stderr
    assert "streams.kiosk begin empty: 2 partitions, values are json" in done.stderr
    inserted = run(up, "sql", "INSERT INTO kiosk VALUES (1, 'tea')")
    assert "records of topic 'kiosk', which has 1 record now" in inserted.stderr
    assert command("produce", "kiosk", "--kafka", up.kafka, text='{"id":2,"sku":"milk"}\n').returncode == 0
    consumed = command("consume", "kiosk", "--kafka", up.kafka, "--json")
    records = sorted((one["value"], one["key"]) for one in map(json.loads, consumed.stdout.splitlines()))
    assert records == [('{"id":1,"sku":"tea"}', "tea"), ('{"id":2,"sku":"milk"}', None)]
    assert sql(up, "SELECT * FROM kiosk") == [{"id": 1, "sku": "tea"}]


def test_a_topic_takes_the_columns_of_a_table_whatever_that_table_demands_of_them(up: Up) -> None:
    assert run(up, "sql", "CREATE SCHEMA lake.shop").returncode == 0
    assert run(up, "sql", "CREATE TABLE lake.shop.visits (seen TIMESTAMP NOT NULL, tags VARCHAR[])").returncode == 0
    refused = made(up, "visits", "--like", "shop.visits")
    assert refused.returncode == 1 and "'lakestream.value.format'='avro'" in refused.stderr
    done = made(up, "visits", "--like", "shop.visits", "--format", "avro")
    assert done.returncode == 0, done.stderr
    assert sql(up, "SELECT column_name FROM (DESCRIBE lake.streams.visits)") == [
        {"column_name": "seen"},
        {"column_name": "tags"},
    ]
    again = made(up, "visits_too", "--like", "visits", "--format", "avro")
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("options", "code", "reason"),
    [
        (("--columns", "id number"), 1, "there is no type 'number'"),
        (("--columns", "id bigint", "--like", "streams.x"), 1, "either the columns or a table"),
        (("--columns", "id bigint", "--key", "sku"), 1, "no column 'sku'"),
        (("--columns", "id bigint", "-c", "retention.ms=soon"), 1, "retention.ms"),
        (("--like", "streams.nobody"), 1, "Table does not exist: streams.nobody"),
        (("--key", "sku"), 2, "--columns or --like"),
        (("--columns", "id bigint", "--format", "avro", "-c", "lakestream.value.format=json"), 2, "choose one"),
    ],
)
def test_what_cannot_be_made_is_refused_and_leaves_nothing(
    up: Up, options: tuple[str, ...], code: int, reason: str
) -> None:
    done = made(up, "never", *options)
    assert (done.returncode, done.stdout) == (code, "") and reason in done.stderr
    topics = command("topic", "list", "--kafka", up.kafka, "--json")
    assert "never" not in topics.stdout


def test_a_dry_run_over_http_says_what_would_be_made_and_makes_nothing(up: Up) -> None:
    gateway = Gateway(address=parse_http_address(up.http))
    body = {"name": "planned", "columns": "id bigint", "partitions": 3, "dry_run": True}
    said = ask_gateway(gateway, "/admin/topics", body)
    assert (said["done"], "3 partitions" in said["consequences"][0]) == (False, True)
    assert ask_gateway(gateway, "/admin/topics", {**body, "dry_run": False})["done"]
    with pytest.raises(Exception, match="already"):
        ask_gateway(gateway, "/admin/topics", body)


def test_create_table_and_insert_say_what_they_made(up: Up) -> None:
    done = run(up, "sql", "CREATE TABLE told (id BIGINT) WITH ('lakestream.partitions'='3')")
    assert (done.returncode, done.stderr) == (0, "done\ntopic 'told' made: 3 partitions, values are json\n")
    filled = run(up, "sql", "INSERT INTO told VALUES (1), (2)")
    assert filled.stderr == "the rows are records of topic 'told', which has 2 records now\n"
    assert run(up, "sql", "ALTER TABLE told RENAME COLUMN id TO number").returncode == 0
    assert sql(up, "SELECT count(number) AS n FROM told") == [{"n": 2}]
    assert run(up, "sql", "DROP TABLE told").returncode == 0
    assert "told" not in command("topic", "list", "--kafka", up.kafka, "--json").stdout
