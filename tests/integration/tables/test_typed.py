"""Typed topics from end to end: real serializers in, every engine's rows out, the very bytes back to Kafka."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from pyiceberg.catalog.rest import RestCatalog
from pyspark.sql import SparkSession

from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.typed_topics import BAD, BAD_EVERY, FORMATS, Format, orders
from tests.spark_session import attach

COUNT = 400
"""Orders of each version."""

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


def orders_of_both_versions() -> list[dict[str, Any]]:
    return [*orders(COUNT, first=0, with_note=False), *orders(COUNT, first=COUNT, with_note=True)]


def repair(lake: RunningLake, topic: str, format: Format, bad: list[int]) -> None:
    """Export, mend by hand, retry: rows appear at their own offsets, and nothing is left."""
    file = lake.folder / f"{topic}.jsonl"
    assert [one["topic"] for one in lake.json("quarantine", "list") if one["topic"] == topic] == [topic]
    assert len(lake.json("quarantine", "show", topic)) == len(bad)
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
    produced: list[bytes] = []
    expected: list[dict[str, Any]] = []
    for version, serialize in enumerate(format.versions(topic, lake.registry)):
        given = list(orders(COUNT, first=version * COUNT, with_note=version == 1))
        expected += given
        batch = [serialize(order) for order in given]
        for at in range(BAD_EVERY // 2, len(batch), BAD_EVERY):
            batch[at] = BAD
            expected[version * COUNT + at] = {}
        lake.produce(topic, batch)
        produced += batch
        lake.compact()
    good = [order | {"note": order.get("note")} for order in expected if order]
    columns = "id, item, price, paid, note"
    attach(spark, "typed", lake.uri)
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
