"""The bucket alone is enough: the log can be put together from it, and tables stay readable by anyone."""

from pathlib import Path

from confluent_kafka import Producer

from lakestream.broker.broker import BrokerLimits
from lakestream.storage.garbage.duties import garbage_limits
from tests.integration.catalog.engines import duckdb_alone
from tests.integration.tables.bucket import Bucket
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.live import consumed
from tests.integration.tables.up_topics import wait_for

PARTITIONS = 2
BATCH = 40
IN_TABLE = 600
COUNTS = {"orders": IN_TABLE + 400, "stamped": 400}
"""Records of each topic, in the end."""


def produce(lake: RunningLake, topic: str, count: int, codec: str) -> None:
    """To all partitions, in several batches each."""
    producer = Producer({"bootstrap.servers": lake.kafka, "compression.type": codec, "batch.num.messages": BATCH})
    for number in range(count):
        key = None if number % 7 == 3 else b"key-%d" % number
        value = None if number % 11 == 5 else b"number %d" % number
        headers = [("h", b"x"), ("n", None)] if number % 4 == 1 else None
        producer.produce(topic, value, key, partition=number % PARTITIONS, headers=headers)
    assert producer.flush(60) == 0


def test_the_log_is_put_together_and_the_table_is_read_when_nothing_but_the_bucket_is_left(tmp_path: Path) -> None:
    limits = BrokerLimits(garbage=garbage_limits(100))
    with running_lake(tmp_path, limits=limits) as lake:
        bucket = Bucket(lake.objects)
        lake.create("orders", PARTITIONS)
        lake.create("stamped", PARTITIONS, {"message.timestamp.type": "LogAppendTime"})
        for codec in ("lz4", "none"):
            produce(lake, "orders", IN_TABLE // 2, codec)
        lake.compact()
        for codec in ("none", "zstd"):
            for topic in COUNTS:
                produce(lake, topic, 200, codec)
        topics = {topic.name: topic.id for topic in lake.run(lake.store.topics()).topics}
        logs = {name: consumed(lake.kafka, name, partitions=PARTITIONS, count=COUNTS[name]) for name in COUNTS}
        wait_for(lambda: len(list(bucket.in_segments(topics["orders"]))) == 400, "the WAL keeps what is in the table")
        wait_for(lambda: not bucket.unreceipted(), "the last receipts were not written")
        found = {name: bucket.log(topics[name]) for name in COUNTS}
    assert found == logs
    assert {name: len(log) for name, log in found.items()} == COUNTS

    for file in tmp_path.glob("metadata.db*"):
        file.unlink()
    table = bucket.table(topics["orders"])
    assert table is not None
    assert table.scan().to_arrow().num_rows == IN_TABLE
    with duckdb_alone() as duckdb:
        counted = duckdb.execute("SELECT count(*) FROM iceberg_scan(?)", [table.metadata_location]).fetchone()
    assert counted == (IN_TABLE,)
