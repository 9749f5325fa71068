"""`spark.readStream.format("lakestream")`: every record once, across restarts, failures and compaction."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from lakestream.spark import register
from tests.integration.catalog.engines import duckdb_on
from tests.integration.tables.consumed import consumed
from tests.integration.tables.lake import RunningLake, running_lake

SECONDS_MAX = 120
STARTS_MAX = 5
TOO_BUSY = "Python worker failed to connect back"
"""Spark gives a Python process ten seconds to start, which may be too short while other tests have the cores."""
Place = tuple[int, int, bytes]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(tmp_path_factory.mktemp("stream")) as running:
        yield running


class Sink:
    """Keeps the rows of each batch under its number, as a sink must that wants each batch once."""

    def __init__(self, folder: Path) -> None:
        self.checkpoint = folder / "checkpoint"
        self.batches: dict[int, list[Place]] = {}
        self.fails_at: int | None = None

    def take(self, frame: DataFrame, number: int) -> None:
        rows = frame.select("__partition", "__offset", "__value").collect()
        if number == self.fails_at:
            raise RuntimeError("the sink is broken")
        found = [(row[0], row[1], bytes(row[2])) for row in rows]
        assert self.batches.setdefault(number, found) == found, "a batch that is run again has the same rows"

    @property
    def rows(self) -> list[Place]:
        return sorted(place for batch in self.batches.values() for place in batch)

    def run(self, spark: SparkSession, lake: RunningLake, topic: str, **options: str) -> None:
        """Until it has read everything that there is now."""
        for left in reversed(range(STARTS_MAX)):
            query = self.start(spark, lake, topic, **options)
            try:
                query.processAllAvailable()
                return
            except StreamingQueryException as failed:
                if not left or TOO_BUSY not in str(failed):
                    raise
            finally:
                query.stop()

    def start(self, spark: SparkSession, lake: RunningLake, topic: str, **options: str) -> StreamingQuery:
        frame = spark.readStream.format("lakestream").options(topic=topic, http=lake.http, **options).load()
        writer = frame.writeStream.option("checkpointLocation", str(self.checkpoint)).foreachBatch(self.take)
        return writer.start()


def records(lake: RunningLake, topic: str, partitions: int) -> list[Place]:
    return [(number, offset, value) for number, offset, _, value, _, _ in consumed(lake, topic, partitions)]


def test_a_stream_goes_on_from_its_checkpoint(spark: SparkSession, lake: RunningLake, tmp_path: Path) -> None:
    register(spark)
    sink = Sink(tmp_path)
    lake.create("streamed", 2)
    lake.produce("streamed", [b"first %d" % n for n in range(100)])
    sink.run(spark, lake, "streamed")
    assert sink.rows == records(lake, "streamed", 2)
    lake.compact()
    admin = AdminClient({"bootstrap.servers": lake.kafka})
    for made in admin.create_partitions([NewPartitions("streamed", 3)]).values():
        made.result(timeout=SECONDS_MAX)
    lake.produce("streamed", [b"second %d" % n for n in range(100)])
    sink.fails_at = max(sink.batches) + 1
    with pytest.raises(StreamingQueryException, match="the sink is broken"):
        sink.run(spark, lake, "streamed")
    lake.produce("streamed", [b"third %d" % n for n in range(100)])
    lake.compact()
    sink.fails_at = None
    sink.run(spark, lake, "streamed")
    assert sink.rows == records(lake, "streamed", 3)
    assert len({number for number, _, _ in sink.rows}) == 3


def committed(lake: RunningLake, topic: str) -> list[Place]:
    """What a consumer of committed records gets from partition 0."""
    consumer = Consumer({"bootstrap.servers": lake.kafka, "group.id": "committed", "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[Place] = []
    while (message := consumer.poll(SECONDS_MAX)) is not None and message.error() is None:
        found.append((0, message.offset(), message.value()))
    assert message is not None and message.error().code() == KafkaError._PARTITION_EOF
    consumer.close()
    return found


def test_a_stream_is_what_a_consumer_of_committed_records_gets_wherever_they_lie(
    spark: SparkSession, lake: RunningLake, tmp_path: Path
) -> None:
    """In merged files, in files that SQL appended, in the WAL; of transactions that were committed, aborted, open."""
    register(spark)
    sink = Sink(tmp_path)
    duck = duckdb_on(lake.uri)
    duck.execute("CREATE TABLE lake.streams.everywhere (n BIGINT)")
    for first in range(0, 40, 10):
        lake.produce("everywhere", [b'{"n":%d}' % n for n in range(first, first + 10)])
        lake.compact()
    sink.run(spark, lake, "everywhere", maxOffsetsPerTrigger="25")
    assert lake.merge().files == 4
    writer = Producer({"bootstrap.servers": lake.kafka, "transactional.id": "stream"})
    writer.init_transactions(SECONDS_MAX)
    for ends in (writer.abort_transaction, writer.commit_transaction, writer.abort_transaction):
        writer.begin_transaction()
        writer.produce("everywhere", b'{"n":100}', partition=0)
        assert writer.flush(SECONDS_MAX) == 0
        ends(SECONDS_MAX)
        duck.execute("INSERT INTO lake.streams.everywhere VALUES (200), (201)")
    writer.begin_transaction()
    writer.produce("everywhere", b'{"n":300}', partition=0)
    assert writer.flush(SECONDS_MAX) == 0
    lake.produce("everywhere", [b'{"n":400}'])
    sink.run(spark, lake, "everywhere", maxOffsetsPerTrigger="25")
    before = list(sink.rows)
    assert [value for _, _, value in before][40:] == [
        *(b'{"n":200}', b'{"n":201}', b'{"n":100}', b'{"n":200}', b'{"n":201}', b'{"n":200}', b'{"n":201}')
    ]
    assert before == committed(lake, "everywhere")
    writer.commit_transaction(SECONDS_MAX)
    lake.compact()
    sink.run(spark, lake, "everywhere", maxOffsetsPerTrigger="25")
    assert [value for _, _, value in sink.rows[len(before) :]] == [b'{"n":300}', b'{"n":400}']
    assert sink.rows == committed(lake, "everywhere")


def test_deleted_records_stop_a_stream_only_if_it_had_not_read_them(
    spark: SparkSession, lake: RunningLake, tmp_path: Path
) -> None:
    register(spark)
    sink = Sink(tmp_path)
    lake.create("let_go", 1)
    lake.produce("let_go", [b"%d" % n for n in range(50)])
    sink.run(spark, lake, "let_go")
    lake.produce("let_go", [b"%d" % n for n in range(50, 100)])
    delete_below(lake, "let_go", 40)
    sink.run(spark, lake, "let_go")
    assert [offset for _, offset, _ in sink.rows] == list(range(100))
    lake.produce("let_go", [b"%d" % n for n in range(100, 150)])
    delete_below(lake, "let_go", 120)
    with pytest.raises(StreamingQueryException, match="offsets 100 to 119 of partition 0 of topic 'let_go' were del"):
        sink.run(spark, lake, "let_go")
    sink.run(spark, lake, "let_go", failOnDataLoss="false")
    assert [offset for _, offset, _ in sink.rows] == [*range(100), *range(120, 150)]


def delete_below(lake: RunningLake, topic: str, offset: int) -> None:
    admin = AdminClient({"bootstrap.servers": lake.kafka})
    for done in admin.delete_records([TopicPartition(topic, 0, offset)]).values():
        done.result(timeout=SECONDS_MAX)


def test_a_batch_takes_no_more_than_it_may(spark: SparkSession, lake: RunningLake, tmp_path: Path) -> None:
    register(spark)
    sink = Sink(tmp_path)
    lake.create("capped", 2)
    lake.produce("capped", [b"%d" % n for n in range(130)])
    sink.run(spark, lake, "capped", maxOffsetsPerTrigger="50")
    assert sink.rows == records(lake, "capped", 2)
    assert [len(batch) for batch in sink.batches.values()] == [50, 50, 30]
    lake.produce("capped", [b"%d" % n for n in range(70)])
    sink.run(spark, lake, "capped", maxOffsetsPerTrigger="50")
    assert sink.rows == records(lake, "capped", 2)
    assert [len(batch) for batch in sink.batches.values()] == [50, 50, 30, 50, 20]


def test_a_topic_made_anew_is_not_taken_for_the_old_one(spark: SparkSession, lake: RunningLake, tmp_path: Path) -> None:
    register(spark)
    sink = Sink(tmp_path)
    lake.create("again", 1)
    lake.produce("again", [b"old"])
    sink.run(spark, lake, "again")
    admin = AdminClient({"bootstrap.servers": lake.kafka})
    admin.delete_topics(["again"])["again"].result(timeout=SECONDS_MAX)
    lake.create("again", 1)
    lake.produce("again", [b"new", b"newer"])
    with pytest.raises(StreamingQueryException, match="Start the query with a new checkpoint"):
        sink.run(spark, lake, "again")
