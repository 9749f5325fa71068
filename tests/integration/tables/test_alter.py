"""ALTER TABLE is schema evolution: by stock Spark, DuckDB and PyIceberg, with a Kafka client on the other side."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from py4j.protocol import Py4JJavaError
from pyiceberg.exceptions import ForbiddenError, RESTError
from pyiceberg.types import LongType, StringType, TimestamptzType
from pyspark.sql import SparkSession

from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.test_insert import messages, values
from tests.spark_session import attach


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(tmp_path_factory.mktemp("lake")) as running:
        yield running


@pytest.fixture(scope="module")
def sql(spark: SparkSession, lake: RunningLake) -> SparkSession:
    attach(spark, "altered", lake.uri)
    return spark


def rows(sql: SparkSession, table: str) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in sql.table(f"altered.streams.{table}").orderBy("n").collect()]


def test_every_alteration_by_spark_changes_table_and_records(sql: SparkSession, lake: RunningLake) -> None:
    sql.sql("CREATE TABLE altered.streams.all (n INT, word STRING, gone STRING, s STRUCT<x: INT>)")
    early = [b'{"n":1,"word":"a","gone":"g","s":{"x":1},"more":"early"}', b'{ "n":2 }']
    lake.produce("all", early)
    lake.compact()
    for change in (
        "ADD COLUMN more STRING COMMENT 'added'",
        "ALTER COLUMN n TYPE BIGINT",
        "RENAME COLUMN word TO text",
        "DROP COLUMN gone",
        "ADD COLUMN s.y DOUBLE",
        "ALTER COLUMN more FIRST",
        "ALTER COLUMN text COMMENT 'in words'",
    ):
        sql.sql(f"ALTER TABLE altered.streams.all {change}")
    sql.sql("INSERT INTO altered.streams.all VALUES ('m', 3, 'b', named_struct('x', 3, 'y', 0.5D))")
    late = [b'{"n":1099511627776,"text":"c","more":"late","s":{"y":1.5}}', b'{"n":5,"word":"old","gone":7}']
    lake.produce("all", late)
    lake.compact()
    assert [one.value() for one in messages(lake, "all", 5)] == [
        *early,
        b'{"more":"m","n":3,"text":"b","s":{"x":3,"y":0.5}}',
        *late,
    ]
    assert rows(sql, "all") == [
        {"more": None, "n": 1, "text": "a", "s": {"x": 1, "y": None}},
        {"more": None, "n": 2, "text": None, "s": None},
        {"more": "m", "n": 3, "text": "b", "s": {"x": 3, "y": 0.5}},
        {"more": None, "n": 5, "text": "old", "s": None},
        {"more": "late", "n": 1 << 40, "text": "c", "s": {"x": None, "y": 1.5}},
    ]
    log = sql.table("altered.streams.all__log")
    assert "gone_dropped" in log.columns
    assert [row["gone_dropped"] for row in log.where("n = 1").collect()] == ["g"]
    assert lake.command("verify", "all").returncode == 0
    assert duckdb_on(lake.uri).execute("SELECT count(*) FROM lake.streams.all__quarantine").fetchone() == (0,)


def test_serializers_and_engines_see_each_others_changes(sql: SparkSession, lake: RunningLake) -> None:
    sql.sql("CREATE TABLE altered.streams.both (n INT, word STRING) TBLPROPERTIES ('lakestream.value.format'='avro')")
    client = SchemaRegistryClient({"url": lake.registry})
    context = SerializationContext("both", MessageField.VALUE)
    sql.sql("ALTER TABLE altered.streams.both ADD COLUMN note STRING")
    sql.sql("ALTER TABLE altered.streams.both RENAME COLUMN word TO text")
    latest = client.get_latest_version("both-value")
    assert latest.version == 3 and latest.schema is not None
    schema = json.loads(latest.schema.schema_str or "")
    assert [(field["name"], field.get("aliases")) for field in schema["fields"]] == [
        ("n", None),
        ("text", ["word"]),
        ("note", None),
    ]
    schema["fields"].append({"name": "extra", "type": ["null", "long"], "default": None})
    conf = {"auto.register.schemas": True}
    value = AvroSerializer(client, json.dumps(schema), conf=conf)(
        {"n": 1, "text": "a", "note": "b", "extra": 9}, context
    )
    assert value is not None
    lake.produce("both", [value])
    lake.compact()
    sql.sql("REFRESH TABLE altered.streams.both")
    sql.sql("ALTER TABLE altered.streams.both ALTER COLUMN n TYPE BIGINT")
    sql.sql("INSERT INTO altered.streams.both (n, text, extra) VALUES (2, 'c', 8)")
    read = AvroDeserializer(client)
    assert [read(one.value(), context) for one in messages(lake, "both", 2)] == [
        {"n": 1, "text": "a", "note": "b", "extra": 9},
        {"n": 2, "text": "c", "note": None, "extra": 8},
    ]
    assert [row["extra"] for row in rows(sql, "both")] == [9, 8]
    assert lake.command("verify", "both").returncode == 0


def test_duckdb_and_pyiceberg_alter_and_append_with_the_new_column(lake: RunningLake) -> None:
    duck = duckdb_on(lake.uri)
    duck.execute("CREATE TABLE lake.streams.small (n INTEGER)")
    duck.execute("ALTER TABLE lake.streams.small ADD COLUMN word VARCHAR")
    duck.execute("INSERT INTO lake.streams.small VALUES (1, 'a')")
    table = pyiceberg_on(lake.uri).load_table("streams.small")
    with table.transaction() as change:
        with change.update_schema() as update:
            update.add_column("more", StringType())
            update.update_column("n", LongType())
        change.append(
            pa.Table.from_pylist(
                [{"n": 2, "word": "b", "more": "c"}],
                schema=pa.schema([("n", pa.int64()), ("word", pa.string()), ("more", pa.string())]),
            )
        )
    assert values(lake, "small", 2) == [{"n": 1, "word": "a"}, {"n": 2, "word": "b", "more": "c"}]
    with pytest.raises(ForbiddenError, match="JSON has no form for"), table.update_schema() as update:
        update.add_column("at", TimestamptzType())
    assert lake.command("verify", "small").returncode == 0


def test_refusals_tell_the_reason_and_what_to_do(sql: SparkSession, lake: RunningLake) -> None:
    sql.sql("CREATE TABLE altered.streams.firm (n INT, word STRING) TBLPROPERTIES ('lakestream.value.format'='avro')")
    assert lake.command("schema", "config", "firm-value", "--level", "FULL").returncode == 0
    for change, reason in (
        ("ALTER COLUMN n TYPE BIGINT", "lakestream schema config firm-value --level"),
        ("RENAME COLUMN word TO `größe`", "letters, digits and _"),
    ):
        with pytest.raises(Py4JJavaError, match=reason):
            sql.sql(f"ALTER TABLE altered.streams.firm {change}")
    with pytest.raises(Exception, match="lakestream schema config firm-value --level"):
        duckdb_on(lake.uri).execute("ALTER TABLE lake.streams.firm ALTER COLUMN n TYPE BIGINT")
    assert [field.name for field in sql.table("altered.streams.firm").schema] == ["n", "word"]
    for replacing in (
        "CREATE OR REPLACE TABLE altered.streams.firm (other BIGINT)",
        "CREATE OR REPLACE TABLE altered.streams.firm AS SELECT 1L AS other",
        "REPLACE TABLE altered.streams.firm AS SELECT 1L AS other",
    ):
        with pytest.raises(Py4JJavaError, match="To empty the table, DELETE its rows; to change its columns, ALTER it"):
            sql.sql(replacing)
    sql.sql("INSERT INTO altered.streams.firm VALUES (1, 'a')")
    assert rows(sql, "firm") == [{"n": 1, "word": "a"}]


def test_a_renamed_table_goes_on_with_its_topic(sql: SparkSession, lake: RunningLake) -> None:
    sql.sql("CREATE TABLE altered.streams.before (n BIGINT) TBLPROPERTIES ('lakestream.value.format'='avro')")
    sql.sql("INSERT INTO altered.streams.before VALUES (1)")
    sql.sql("ALTER TABLE altered.streams.before RENAME TO streams.after")
    sql.sql("ALTER TABLE altered.streams.after ADD COLUMN word STRING")
    sql.sql("INSERT INTO altered.streams.after VALUES (2, 'a')")
    assert len(messages(lake, "before", 2)) == 2
    assert SchemaRegistryClient({"url": lake.registry}).get_latest_version("before-value").version == 2
    assert sql.table("altered.streams.after__log").count() == 2
    assert sql.table("altered.streams.after__quarantine").count() == 0
    lake.compact()
    assert "streams.after (topic before)" in lake.command("status").stdout
    assert lake.command("verify", "before").returncode == 0
    sql.sql("DROP TABLE altered.streams.after")
    assert "before" not in lake.command("topic", "list").stdout


def test_files_that_others_wrote_are_refused_by_pyiceberg_with_what_to_do(
    lake: RunningLake, tmp_path_factory: pytest.TempPathFactory
) -> None:
    duckdb_on(lake.uri).execute("CREATE TABLE lake.streams.strict (n BIGINT)")
    table = pyiceberg_on(lake.uri).load_table("streams.strict")
    outside = tmp_path_factory.mktemp("outside") / "rows.parquet"
    inside = f"{table.location().removeprefix('file://')}/data/rows.parquet"
    Path(inside).parent.mkdir(parents=True, exist_ok=True)
    for path, reason in (
        (str(outside), "outside of the table's own folder.*INSERT its rows instead"),
        (inside, "without field ids.*write it with an Iceberg writer, or INSERT its rows"),
    ):
        pq.write_table(pa.table({"n": [1]}), path)
        with pytest.raises(RESTError, match=reason):
            table.add_files([f"file://{path}"])
    assert values(lake, "strict", 0) == [] and table.refresh().scan().to_arrow().num_rows == 0
