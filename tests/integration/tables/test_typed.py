"""Typed topics from end to end: real serializers in, every engine's rows out, the very bytes back to Kafka."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, TopicPartition
from pyiceberg.catalog.rest import RestCatalog
from pyspark.sql import SparkSession

from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.typed_topics import BAD, BAD_EVERY, FORMATS, Format, Serialize, orders
from tests.integration.tables.watching import Watching
from tests.spark_session import attach

COUNT = 400
"""Orders of each version."""
ROUNDS = 4
"""Commits in which those of the second version arrive."""

pytestmark = pytest.mark.usefixtures("spark")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(Path(tmp_path_factory.mktemp("typed"))) as running:
        yield running


def consumed(lake: RunningLake, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": lake.kafka, "group.id": "replay", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[bytes | None] = []
    while len(found) < count:
        messages = consumer.consume(count - len(found), timeout=10)
        assert messages, f"{len(found)} of {count}"
        found += [message.value() for message in messages]
    consumer.close()
    return found


class Produced(NamedTuple):
    values: list[bytes]
    orders: list[dict[str, Any]]
    """Empty where the value is a bad one."""


def with_bad_records(version: int, serialize: Serialize) -> Produced:
    given = list(orders(COUNT, first=version * COUNT, with_note=version == 1))
    values = [serialize(order) for order in given]
    for at in range(BAD_EVERY // 2, len(values), BAD_EVERY):
        values[at], given[at] = BAD, {}
    return Produced(values, given)


def engines_on(lake: RunningLake, spark: SparkSession, topic: str) -> dict[str, Callable[[], list[dict[str, Any]]]]:
    """What each of them finds in the table now, by id."""
    ordered = "SELECT id, item, price, paid FROM {} ORDER BY id"
    duck, iceberg = duckdb_on(lake.uri), pyiceberg_on(lake.uri)

    def by_pyiceberg() -> list[dict[str, Any]]:
        found = iceberg.load_table(("streams", topic)).scan(selected_fields=("id", "item", "price", "paid")).to_arrow()
        rows: list[dict[str, Any]] = found.sort_by("id").to_pylist()
        return rows

    return {
        "spark": lambda: [row.asDict() for row in spark.sql(ordered.format(f"typed.streams.{topic}")).collect()],
        "duckdb": lambda: duck.execute(ordered.format(f"lake.streams.{topic}")).to_arrow_table().to_pylist(),
        "pyiceberg": by_pyiceberg,
    }


def assert_seen_growing(watching: Watching, good: list[dict[str, Any]], *, at_least: int) -> None:
    """Every answer was the good orders up to some commit, and no later one had fewer."""
    whole = [{key: value for key, value in order.items() if key != "note"} for order in good]
    for engine, answers in watching.answers.items():
        counts = [len(rows) for rows in answers]
        assert counts == sorted(counts), engine
        assert counts[0] >= at_least, engine
        assert all(rows == whole[: len(rows)] for rows in answers), engine


def orders_of_both_versions() -> list[dict[str, Any]]:
    return [*orders(COUNT, first=0, with_note=False), *orders(COUNT, first=COUNT, with_note=True)]


def repair(lake: RunningLake, topic: str, format: Format, bad: list[int]) -> None:
    """Export, mend by hand, retry: rows appear at their own offsets, and nothing is left."""
    file = lake.folder / f"{topic}.jsonl"
    assert [one["topic"] for one in lake.json("quarantine", "list") if one["topic"] == topic] == [topic]
    assert len(lake.json("quarantine", "show", topic)) == len(bad)
    (status,) = [one for one in lake.json("status")["topics"] if one["name"] == topic]
    assert status["table"]["quarantined_records"] == len(bad)
    assert lake.command("quarantine", "export", topic, str(file)).returncode == 0
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert [record["offset"] for record in records] == bad
    right, (_, serialize) = orders_of_both_versions(), format.versions(topic, lake.registry)
    for record in records:
        mended = base64.b64encode(serialize({"note": None} | right[record["offset"]])).decode()
        record.pop("value", None)
        record["value_base64"] = mended
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    with lake.rounds():
        assert lake.json("quarantine", "retry", topic, "--from", str(file)) == {"repaired": len(bad), "remaining": 0}


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_a_topic_through_evolving_schemas_with_bad_records(
    format: Format, lake: RunningLake, spark: SparkSession
) -> None:
    topic = format.name
    lake.create(topic, 1, format.config)
    attach(spark, "typed", lake.uri)
    first, second = (
        with_bad_records(version, serialize) for version, serialize in enumerate(format.versions(topic, lake.registry))
    )
    lake.produce(topic, first.values)
    lake.compact()
    with Watching(engines_on(lake, spark, topic)) as watching:
        for at in range(0, COUNT, COUNT // ROUNDS):
            lake.produce(topic, second.values[at : at + COUNT // ROUNDS])
            lake.compact()
    produced, expected = first.values + second.values, first.orders + second.orders
    good = [order | {"note": order.get("note")} for order in expected if order]
    assert_seen_growing(watching, good, at_least=sum(map(bool, first.orders)))
    columns = "id, item, price, paid, note"
    by_spark = [row.asDict() for row in spark.sql(f"SELECT {columns} FROM typed.streams.{topic} ORDER BY id").collect()]
    assert by_spark == good
    assert lake.json("sql", f"SELECT {columns} FROM {topic} ORDER BY id") == good
    table = RestCatalog("lake", uri=lake.uri).load_table(("streams", topic))
    by_pyiceberg = table.scan(selected_fields=("id", "item", "price", "paid", "note")).to_arrow().sort_by("id")
    assert by_pyiceberg.to_pylist() == good
    assert table.scan(row_filter="__value is not null").to_arrow().num_rows == 0
    bad = spark.sql(f"SELECT __offset, __value, __error FROM typed.streams.{topic}__quarantine ORDER BY 1").collect()
    assert [row[0] for row in bad] == [at for at, order in enumerate(expected) if not order]
    assert all(bytes(row[1]) == BAD and row[2] for row in bad)
    assert consumed(lake, topic, len(produced)) == produced
    repair(lake, topic, format, [at for at, order in enumerate(expected) if not order])
    whole = [order | {"note": order.get("note")} for order in orders_of_both_versions()]
    assert lake.json("sql", f"SELECT {columns} FROM {topic} ORDER BY id") == whole
    assert consumed(lake, topic, len(produced)) == produced
    done = lake.command("verify", topic, "--json")
    assert done.returncode == 0, done.stdout
    verdict = json.loads(done.stdout.splitlines()[-1])["topics"][0]
    assert (verdict["records"], verdict["rows"], verdict["problems"]) == (2 * COUNT, 2 * COUNT, [])


def test_what_is_discarded_is_off_the_list_and_in_the_log(lake: RunningLake) -> None:
    lake.create("thrown", 1, {"lakestream.value.format": "string"})
    produced = [b"good", b"\xff one", b"\xff two"]
    lake.produce("thrown", produced)
    lake.compact()
    with lake.rounds():
        assert lake.json("quarantine", "discard", "thrown", "--offset", "0:1") == {"remaining": 1}
        assert [one["offset"] for one in lake.json("quarantine", "show", "thrown")] == [2]
        assert lake.json("quarantine", "discard", "thrown") == {"remaining": 0}
    assert [one["records"] for one in lake.json("quarantine", "list") if one["topic"] == "thrown"] == [0]
    assert lake.json("sql", "SELECT value FROM thrown") == [{"value": "good"}]
    assert consumed(lake, "thrown", 3) == produced


def test_what_is_set_aside_is_found_in_any_namespace_listed_or_not(lake: RunningLake, tmp_path: Path) -> None:
    elsewhere = {"lakestream.table.namespace": "sales.eu", "lakestream.table.enable": "false"}
    lake.create("far.away", 1, {"lakestream.value.format": "string", **elsewhere})
    lake.produce("far.away", [b"good", b"\xff"])
    lake.compact()
    assert [one["offset"] for one in lake.json("quarantine", "show", "far.away")] == [1]
    file = tmp_path / "bad.jsonl"
    assert lake.command("quarantine", "export", "far.away", str(file)).returncode == 0
    kept = file.read_text()
    assert '"offset": 1' in kept
    unknown = lake.command("quarantine", "export", "nobody", str(file))
    assert unknown.returncode == 1
    assert "no topic is called 'nobody'" in unknown.stderr
    assert file.read_text() == kept, "what was mended there is not lost"
