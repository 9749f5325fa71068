"""`spark.read.format("lakestream")`: the rows of a DataFrame are the records of the topic, wherever they lie."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakestream.contract.topic.topic_contract import TopicContract
from lakestream.spark import register
from lakestream.spark.gateway_logs import GatewayLogs
from lakestream.spark.options import source_options
from lakestream.spark.planning import PlannedTasks, ReadPlanner
from lakestream.spark.reading import PlacesMoved, read_rows
from lakestream.spark.shown_columns import shown_columns
from lakestream.world.clock import SystemClock
from tests.integration.catalog.engines import duckdb_on
from tests.integration.tables.consumed import Record, consumed
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.typed_topics import BAD, FORMATS, Format, orders
from tests.ports import free_address

PARTITIONS = 2


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(tmp_path_factory.mktemp("source")) as running:
        yield running


@pytest.fixture(autouse=True)
def registered(spark: SparkSession) -> None:
    register(spark)


def source(spark: SparkSession, lake: RunningLake, topic: str, **options: object) -> DataFrame:
    reader = spark.read.format("lakestream").option("topic", topic).option("http", lake.http)
    for name, value in options.items():
        reader = reader.option(name, str(value))
    return reader.load()


def records_of(frame: DataFrame) -> list[Record]:
    rows = frame.selectExpr(
        "__partition", "__offset", "__key", "__value", "__headers", "unix_millis(__timestamp)"
    ).collect()
    found = [
        (number, offset, _bytes(key), _bytes(value), [(one[0], _bytes(one[1])) for one in headers], time)
        for number, offset, key, value, headers, time in rows
    ]
    return sorted(found, key=lambda record: record[:2])


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)


def test_rows_of_table_files_and_of_the_wal_are_the_consumers_records(spark: SparkSession, lake: RunningLake) -> None:
    lake.create("raw", PARTITIONS)
    lake.produce("raw", [b"old %d" % n for n in range(500)] + [None])
    lake.compact()
    lake.produce("raw", [b"new %d" % n for n in range(300)] + [None])
    assert records_of(source(spark, lake, "raw")) == consumed(lake, "raw", PARTITIONS)


def test_aborted_and_open_transactions_give_no_rows(spark: SparkSession, lake: RunningLake) -> None:
    lake.create("transacted", 1)
    writer = Producer({"bootstrap.servers": lake.kafka, "transactional.id": "source"})
    writer.init_transactions(60)
    for number in range(4):
        writer.begin_transaction()
        for which in "ab":
            writer.produce("transacted", f"{number}{which}".encode(), partition=0)
        assert writer.flush(60) == 0
        if number == 1:
            writer.commit_transaction(60)
            lake.compact()  # numbers 0 and 1 are in the table, 2 is in the WAL, 3 stays open
        elif number < 3:
            writer.abort_transaction(60)
    assert [record[3] for record in records_of(source(spark, lake, "transacted"))] == [b"1a", b"1b"]
    writer.commit_transaction(60)
    found = [record[3] for record in records_of(source(spark, lake, "transacted"))]
    assert found == [b"1a", b"1b", b"3a", b"3b"]


def test_options_choose_offsets_partitions_and_columns(spark: SparkSession, lake: RunningLake) -> None:
    lake.create("chosen", PARTITIONS)
    lake.produce("chosen", [b"old %d" % n for n in range(200)])
    lake.compact()
    lake.produce("chosen", [b"new %d" % n for n in range(200)])
    records = consumed(lake, "chosen", PARTITIONS)
    offsets = {number: [record[1] for record in records if record[0] == number] for number in range(PARTITIONS)}
    starts, ends = {0: 3, 1: -2}, {0: offsets[0][-1], 1: 7}
    part = source(
        spark,
        lake,
        "chosen",
        startingOffsets=json.dumps(starts),
        endingOffsets=json.dumps(ends),
        columns="__offset,__partition",
        taskBytes=1_000,
    )
    assert part.columns == ["__offset", "__partition"]
    wanted = [(number, n) for number in offsets for n in offsets[number] if max(0, starts[number]) <= n < ends[number]]
    assert sorted((number, offset) for offset, number in part.collect()) == wanted
    alone = source(spark, lake, "chosen", partitions="1", endingOffsets="latest")
    assert records_of(alone) == [record for record in records if record[0] == 1]
    none = source(spark, lake, "chosen", startingOffsets="latest")
    assert none.count() == 0


def test_times_choose_records_as_a_consumer_finds_them(spark: SparkSession, lake: RunningLake) -> None:
    lake.create("timed", 1)
    producer = Producer({"bootstrap.servers": lake.kafka, "linger.ms": 5})
    for n in range(300):
        producer.produce("timed", b"%d" % n, partition=0, timestamp=1_700_000_000_000 + 10 * n)
    assert producer.flush(60) == 0
    lake.compact()
    for n in range(300, 400):
        producer.produce("timed", b"%d" % n, partition=0, timestamp=1_700_000_000_000 + 10 * n)
    assert producer.flush(60) == 0
    part = source(spark, lake, "timed", startingTimestamp=1_700_000_000_995, endingTimestamp="2023-11-14T22:13:23.500Z")
    assert [record[3] for record in records_of(part)] == [b"%d" % n for n in range(100, 350)]


def test_filters_of_one_frame_do_not_leak_into_another(spark: SparkSession, lake: RunningLake) -> None:
    """A Python data source that takes filters over gives wrong counts here."""
    lake.create("filtered", 1)
    lake.produce("filtered", [b"%d" % n for n in range(100)])
    frame = source(spark, lake, "filtered", columns="__offset")
    low, high = frame.where("__offset < 10"), frame.where("__offset >= 90")
    assert low.union(high).count() == 20
    assert (low.count(), high.count(), frame.count()) == (10, 10, 100)


def test_what_the_source_cannot_do_is_said_plainly(spark: SparkSession, lake: RunningLake) -> None:
    lake.create("plain", 1)
    wrong = {
        "no topic is called 'nosuch'": {"topic": "nosuch"},
        "has no option 'ofsets'": {"topic": "plain", "ofsets": "earliest"},
        "has no column 'price'": {"topic": "plain", "columns": "price"},
        "has no partition 7": {"topic": "plain", "partitions": "7"},
        "name the topic": {},
    }
    for sentence, options in wrong.items():
        with pytest.raises(PySparkException, match=sentence):
            spark.read.format("lakestream").options(http=lake.http, **options).load().count()


def test_deleted_records_are_missed_loudly_or_skipped(spark: SparkSession, lake: RunningLake) -> None:
    lake.create("trimmed", 1)
    lake.produce("trimmed", [b"%d" % n for n in range(50)])
    admin = AdminClient({"bootstrap.servers": lake.kafka})
    for done in admin.delete_records([TopicPartition("trimmed", 0, 20)]).values():
        done.result(timeout=60)
    assert source(spark, lake, "trimmed").count() == 30
    with pytest.raises(PySparkException, match="offsets 5 to 19 of partition 0 of topic 'trimmed' were deleted"):
        source(spark, lake, "trimmed", startingOffsets='{"0": 5}').count()
    assert source(spark, lake, "trimmed", startingOffsets='{"0": 5}', failOnDataLoss="false").count() == 30


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_typed_columns_are_the_same_in_the_table_and_in_the_wal(
    spark: SparkSession, lake: RunningLake, format: Format
) -> None:
    """Bad values and tombstones have no columns, but their bytes."""
    topic = f"source_{format.name}"
    lake.create(topic, 1, format.config)
    first, second = format.versions(topic, lake.registry)
    old = list(orders(60, first=0, with_note=False))
    lake.produce(topic, [*(first(order) for order in old), None, BAD])
    lake.compact()
    new = list(orders(40, first=60, with_note=True))
    lake.produce(topic, [*(second(order) for order in new), BAD])
    frame = source(spark, lake, topic)
    assert records_of(frame) == consumed(lake, topic, 1)
    found = {row.id: row for row in frame.where("id IS NOT NULL").select("id", "item", "price", "paid").collect()}
    assert [found[n].asDict() for n in range(100)] == [
        {name: value for name, value in order.items() if name != "note"} for order in old + new
    ]
    if format.name not in ("plain_json",):  # a new column of inferred JSON is there after compaction
        notes = frame.where("id >= 60").orderBy("id").select("note").collect()
        assert [row.note for row in notes] == [order["note"] for order in new]
    assert frame.where("id IS NULL").count() == 3


async def planned(lake: RunningLake, topic: str, **options: str) -> PlannedTasks:
    asked = source_options({"topic": topic, "http": lake.http, **options})
    planner = ReadPlanner(asked, GatewayLogs(asked.gateway, SystemClock()))
    log = await planner.log()
    columns = shown_columns(TopicContract.from_text(log.contract), None)
    return await planner.tasks(log, await planner.ranges(log), columns)


def values_of(plan: PlannedTasks) -> list[bytes]:
    return [
        value for task in plan.tasks for rows in read_rows(plan.source, task) for value in rows["__value"].to_pylist()
    ]


def test_records_that_moved_after_the_plan_are_found_where_they_lie_now(lake: RunningLake) -> None:
    lake.create("moved", 1)
    values = [b"%d" % n * 20_000 for n in range(100, 200)]  # too large to lie inline, with the plan
    lake.produce("moved", values)
    plan = lake.run(planned(lake, "moved"))
    lake.compact()
    shutil.rmtree(lake.objects / "wal")
    assert values_of(plan) == values
    lost = plan._replace(source=replace(plan.source, gateway=free_address()))
    with pytest.raises(PlacesMoved, match="Run the query again"):
        values_of(lost)


def test_rows_that_an_engine_inserted_are_among_the_records(spark: SparkSession, lake: RunningLake) -> None:
    duck = duckdb_on(lake.uri)
    duck.execute("CREATE TABLE lake.streams.mixed (n BIGINT)")
    lake.produce("mixed", [b'{"n":0}', b'{"n":1}'])
    duck.execute("INSERT INTO lake.streams.mixed VALUES (2), (3), (4)")
    lake.produce("mixed", [b'{"n":5}'])
    frame = source(spark, lake, "mixed")
    assert records_of(frame) == consumed(lake, "mixed", 1)
    assert [row.n for row in frame.orderBy("__offset").collect()] == list(range(6))
    part = source(spark, lake, "mixed", startingOffsets='{"0": 3}', endingOffsets='{"0": 5}', columns="n")
    assert sorted(row.n for row in part.collect()) == [3, 4]
