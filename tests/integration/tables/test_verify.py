"""`lakestream verify`: passes on what is whole, and names what is not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.tablefile.format.columns import FORM, HEADERS, KEY, OFFSET, PARTITION, TIMESTAMP, VALUE
from lakestream.table.verify.hashing import record_hashes
from lakestream.table.verify.rows import hashed
from tests.integration.catalog.engines import duckdb_on
from tests.integration.tables.lake import RunningLake, running_lake
from tests.spark_session import attach

SMALL: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 19,
    "write_statistics": False,
    "store_schema": False,
    "use_dictionary": False,
    "column_encoding": {
        OFFSET: "DELTA_BINARY_PACKED",
        TIMESTAMP: "DELTA_BINARY_PACKED",
        KEY: "DELTA_BYTE_ARRAY",
        VALUE: "DELTA_BYTE_ARRAY",
    },
}


pytestmark = pytest.mark.usefixtures("spark")
"""Open before the command, which then uses it."""


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[RunningLake]:
    with running_lake(tmp_path) as running:
        yield running


def filled(lake: RunningLake, topic: str = "orders") -> None:
    """Two compactions of two partitions, in several codecs, and records that are not in the table yet."""
    lake.create(topic, 2)
    for codec in ("none", "zstd"):
        lake.produce(
            topic, [None if at % 7 == 3 else b"value-%d" % at for at in range(500)], **{"compression.type": codec}
        )
        lake.compact()
    lake.produce(topic, [b"later"] * 10)


def verdict(lake: RunningLake, *topics: str) -> tuple[int, Any]:
    done = lake.command("verify", *topics, "--json")
    assert "Traceback" not in done.stderr
    # Brokers run in this process here, and what they log comes before.
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def test_a_whole_lake_passes_and_says_what_was_compared(lake: RunningLake) -> None:
    filled(lake)
    lake.create("empty", 1)
    code, found = verdict(lake)
    assert code == 0, found["topics"][0]["problems"] + found["topics"][-1]["problems"]
    by_name = {topic["topic"]: topic for topic in found["topics"]}
    orders = by_name["orders"]
    assert (orders["records"], orders["rows"], orders["ledgers"], orders["problems"]) == (1000, 1000, 2, [])
    assert orders["files"] == 2
    assert orders["objects"] > orders["files"] + orders["ledgers"]
    assert by_name["empty"]["problems"] == []
    with duckdb_on(lake.uri) as duckdb:  # the log's head is of before: it is read by a schema that is no longer current
        duckdb.execute("ALTER TABLE lake.streams.orders ADD COLUMN note VARCHAR")
    printed = lake.command("verify", "orders")
    assert "same" in printed.stdout and "verifying orders, topic 1 of 1 ..." in printed.stderr


def test_records_that_were_deleted_are_not_missed(lake: RunningLake) -> None:
    filled(lake)
    [topic] = lake.run(lake.store.topics()).topics
    end = lake.run(lake.store.tails([topic.partitions[0]]))[topic.partitions[0]].tail.tabled_until
    lake.run(lake.store.delete_records(topic.partitions[0], end // 2))
    code, found = verdict(lake)
    assert code == 0, found["topics"][0]["problems"] + found["topics"][-1]["problems"]
    assert found["topics"][0]["records"] == 1000 - end // 2


def test_what_others_do_to_the_table_is_theirs(lake: RunningLake, spark: SparkSession) -> None:
    filled(lake)
    attach(spark, "others", lake.uri)
    spark.sql("DELETE FROM others.streams.orders WHERE __offset < 100")
    lake.compact()
    code, found = verdict(lake)
    assert code == 0, found["topics"][0]["problems"]
    assert found["topics"][0]["rows"] == 1010
    [topic] = lake.json("status")["topics"]
    assert topic["table"]["bytes_by_others"] > 0
    assert lake.json("sql", "SELECT count(*) AS n FROM orders") == [{"n": 810}]


def data_files(lake: RunningLake) -> list[Path]:
    return sorted(lake.objects.glob("tables/**/*.parquet"))


def test_a_data_file_that_is_gone_is_named(lake: RunningLake) -> None:
    filled(lake)
    file = data_files(lake)[0]
    file.unlink()
    code, found = verdict(lake)
    assert code == 1
    problems = "\n".join(found["topics"][0]["problems"])
    assert f"{file.name} does not exist" in problems
    assert found["verified"] is False
    printed = lake.command("verify")
    assert printed.returncode == 1
    assert file.name in printed.stdout


def forge(file: Path, rows: pa.Table) -> None:
    """Put other rows into the file's place, in a file of exactly its size: nothing outside of it changes."""
    size, padding = file.stat().st_size, 0
    for _ in range(5):
        with pq.ParquetWriter(file, rows.schema, **SMALL) as writer:
            writer.write_table(rows)
            writer.add_key_value_metadata({"padding": "x" * padding})
        if file.stat().st_size == size:
            return
        padding += size - file.stat().st_size
    raise AssertionError(f"{file} cannot be made {size} bytes long")


def problems_of(lake: RunningLake) -> str:
    code, found = verdict(lake)
    assert code == 1
    return "\n".join(found["topics"][0]["problems"])


def test_a_row_that_was_taken_out_of_a_file_is_missed(lake: RunningLake) -> None:
    filled(lake)
    file = data_files(lake)[0]
    rows = pq.read_table(file)
    forge(file, rows.slice(1))
    said = problems_of(lake)
    assert f"{file.name} holds {rows.num_rows - 1} rows, but {rows.num_rows} by its manifest" in said


def test_a_value_that_was_changed_in_a_file_is_found_at_its_offset(lake: RunningLake) -> None:
    filled(lake)
    assert verdict(lake)[0] == 0  # the broker has read the file, and serves on from memory
    file = data_files(lake)[0]
    rows = pq.read_table(file)
    values = rows.column(VALUE).to_pylist()
    values[1] = b"forged"
    at = rows.schema.get_field_index(VALUE)
    forge(file, rows.set_column(at, rows.schema.field(at), pa.array(values, pa.binary())))
    [partition], [offset] = (rows.column(name).slice(1, 1).to_pylist() for name in (PARTITION, OFFSET))
    assert f"partition {partition}: 1 records differ between topic and table: offsets {offset}" in problems_of(lake)


def test_spark_and_kernel_hash_every_record_alike(spark: SparkSession) -> None:
    records = [
        {
            "offset": size,
            "timestamp": size * 1000 - 1,
            "key": None if size % 3 == 0 else bytes(range(size)),
            "value": None if size % 5 == 0 else b"\xff" * size,
            "headers": [{"key": "ß" * size, "value": None if size % 2 else b"x" * size}] * (size % 4),
        }
        for size in range(100)
    ]
    batch = pa.RecordBatch.from_pylist(records, schema=SCHEMA)
    rows = spark.createDataFrame(
        [
            (0, r["offset"], r["timestamp"], r["key"], [(h["key"], h["value"]) for h in r["headers"]], r["value"], None)
            for r in records
        ],
        f"{PARTITION} int, {OFFSET} bigint, ms bigint, {KEY} binary,"
        f" {HEADERS} array<struct<key: string, value: binary>>, {VALUE} binary, {FORM} int",
    ).selectExpr("*", f"timestamp_millis(nullif(ms, -1)) AS {TIMESTAMP}")
    found = {row["offset"]: row["hash"] for row in hashed(rows).collect()}
    assert [found[offset] for offset in range(100)] == record_hashes(batch).tolist()


def test_a_ledger_that_was_changed_is_named(lake: RunningLake) -> None:
    filled(lake)
    ledger = sorted(lake.objects.glob("tables/**/ledger.json"))[0]
    ledger.write_bytes(ledger.read_bytes().replace(b'"rows":', b'"rows": '))
    code, found = verdict(lake)
    assert code == 1
    assert f"{ledger.name} is not the one" in "\n".join(found["topics"][0]["problems"])


def test_an_index_that_is_ahead_of_the_table_is_found(lake: RunningLake) -> None:
    filled(lake)
    lake.edit("UPDATE partition SET tabled_until = tabled_until - 1 WHERE number = 0")
    code, found = verdict(lake)
    assert code == 1
    assert "by its ledgers" in "\n".join(found["topics"][0]["problems"])


def test_a_segment_that_outlived_its_grace_is_named(lake: RunningLake) -> None:
    filled(lake)
    lake.edit("UPDATE segment SET dead_since_ms = 1 WHERE dead_since_ms IS NOT NULL")
    code, found = verdict(lake)
    assert code == 1
    assert len(found["overdue_segments"]) > 0
    assert "past its grace" in lake.command("verify").stdout


def test_a_damaged_table_hides_no_other(lake: RunningLake) -> None:
    lake.produce("broken", [b"a"])
    lake.compact()
    for file in lake.objects.glob("tables/*/metadata/*.metadata.json"):
        file.unlink()
    lake.produce("whole", [b"b"])
    lake.compact()
    code, found = verdict(lake)
    assert code == 1
    broken, whole = found["topics"]
    assert "nothing was compared" in broken["problems"][0]
    assert (whole["topic"], whole["records"], whole["problems"]) == ("whole", 1, [])
    assert "1 problems" in lake.command("verify", "broken").stdout
    assert "does not exist" in lake.command("quarantine", "list").stderr


def test_an_unknown_topic_is_refused(lake: RunningLake) -> None:
    done = lake.command("verify", "nobody")
    assert done.returncode == 1
    assert "lakestream topic list" in done.stderr
