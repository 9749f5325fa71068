"""Stock engines use the catalog as they use any other: ordinary tables, from creation to drop."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.types import LongType
from pyspark.sql import SparkSession

from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.catalog.gateway import RunningCatalog


def test_pyiceberg_creates_writes_evolves_tags_travels_and_drops(catalog: RunningCatalog) -> None:
    iceberg = pyiceberg_on(catalog.uri)
    iceberg.create_namespace("py", {"owner": "me"})
    nested = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))])
    table = iceberg.create_table("py.t", schema=pa.schema([("id", pa.int64()), ("name", pa.string()), ("s", nested)]))
    rows = {"id": [1, 2, 3], "name": ["a", "b", "c"], "s": [{"a": 1, "b": ["x"]}] * 3}
    table.append(pa.table(rows, schema=table.schema().as_arrow()))
    first = table.metadata.current_snapshot_id
    assert first is not None
    with table.update_schema() as update:
        update.add_column("extra", LongType())
        update.rename_column("name", "label")
    table.delete("id = 2")
    table.manage_snapshots().create_tag(first, "first").commit()
    loaded = iceberg.load_table("py.t")
    assert loaded.schema().column_names[-1] == "extra"
    assert sorted(loaded.scan().to_arrow()["id"].to_pylist()) == [1, 3]
    assert loaded.scan(snapshot_id=first).to_arrow()["name"].to_pylist() == ["a", "b", "c"]
    assert set(loaded.refs()) == {"main", "first"}
    iceberg.rename_table("py.t", "py.u")
    assert iceberg.list_tables("py") == [("py", "u")]
    iceberg.drop_table("py.u")
    iceberg.drop_namespace("py")


def test_duckdb_creates_writes_in_one_transaction_deletes_alters_and_drops(catalog: RunningCatalog) -> None:
    duck = duckdb_on(catalog.uri)
    duck.execute("CREATE SCHEMA lake.duck")
    duck.execute("CREATE TABLE lake.duck.t (id BIGINT, v VARCHAR)")
    duck.execute("CREATE TABLE lake.duck.u AS SELECT 7 AS a")
    duck.execute("BEGIN; INSERT INTO lake.duck.t VALUES (1, 'x'), (2, 'y'); INSERT INTO lake.duck.u VALUES (8); COMMIT")
    duck.execute("DELETE FROM lake.duck.t WHERE id = 1")
    duck.execute("UPDATE lake.duck.t SET v = 'z' WHERE id = 2")
    duck.execute("ALTER TABLE lake.duck.t ADD COLUMN n INTEGER")
    assert duck.execute("SELECT * FROM lake.duck.t").fetchall() == [(2, "z", None)]
    assert duck.execute("SELECT a FROM lake.duck.u ORDER BY a").fetchall() == [(7,), (8,)]
    snapshots = duck.execute("SELECT snapshot_id FROM iceberg_snapshots(lake.duck.t) ORDER BY sequence_number")
    first = snapshots.fetchall()[0][0]
    assert duck.execute(f"SELECT count(*) FROM lake.duck.t AT (VERSION => {first})").fetchone() == (2,)
    duck.execute("DROP TABLE lake.duck.t; DROP TABLE lake.duck.u; DROP SCHEMA lake.duck")


@pytest.mark.parametrize("version", [2, 3])
def test_spark_does_everything(spark: SparkSession, catalog: RunningCatalog, version: int) -> None:
    def sql(query: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in spark.sql(query).collect()]

    db = f"lake.spark{version}"
    sql(f"CREATE NAMESPACE {db}")
    sql(
        f"CREATE TABLE {db}.t (id BIGINT, name STRING, ts TIMESTAMP, s STRUCT<a: INT, b: ARRAY<STRING>>) USING iceberg"
        f" PARTITIONED BY (bucket(2, id), days(ts)) TBLPROPERTIES ('format-version' = '{version}',"
        " 'write.metadata.delete-after-commit.enabled' = 'true', 'write.metadata.previous-versions-max' = '2',"
        " 'write.delete.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read')"
    )
    row = "{}, '{}', timestamp '2026-01-01 00:00:00', struct(1, array('x'))"
    sql(f"INSERT INTO {db}.t VALUES ({row.format(1, 'a')}), ({row.format(2, 'b')}), ({row.format(3, 'c')})")
    sql(f"DELETE FROM {db}.t WHERE id = 1")
    sql(
        f"MERGE INTO {db}.t t USING (SELECT 2 id, 'm' name UNION ALL SELECT 5, 'five') x ON t.id = x.id"
        " WHEN MATCHED THEN UPDATE SET name = x.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (x.id, x.name)"
    )
    assert sql(f"SELECT id, name FROM {db}.t ORDER BY id") == [(2, "m"), (3, "c"), (5, "five")]
    for change in (
        "ADD COLUMN s.c DOUBLE",
        "RENAME COLUMN name TO label",
        "ADD PARTITION FIELD truncate(2, label)",
        "WRITE ORDERED BY id",
        "CREATE BRANCH audit",
        "CREATE TAG keep RETAIN 7 DAYS",
    ):
        sql(f"ALTER TABLE {db}.t {change}")
    sql(f"INSERT INTO {db}.t.branch_audit (id, label) VALUES (7, 'br')")
    assert sql(f"SELECT count(*) FROM {db}.t VERSION AS OF 'audit'") == [(4,)]
    sql(f"CALL lake.system.fast_forward('spark{version}.t', 'main', 'audit')")
    first = sql(f"SELECT snapshot_id FROM {db}.t.snapshots ORDER BY committed_at")[0][0]
    assert sql(f"SELECT count(*) FROM {db}.t VERSION AS OF {first}") == [(3,)]
    assert sql(f"SELECT count(*) FROM {db}.t") == [(4,)]
    (location,) = sql(f"SELECT file FROM {db}.t.metadata_log_entries ORDER BY timestamp DESC LIMIT 1")[0]
    assert len(list(Path(str(location).removeprefix("file:")).parent.glob("*.metadata.json"))) == 3
    sql(f"CALL lake.system.expire_snapshots(table => 'spark{version}.t', older_than => timestamp '2100-01-01')")
    sql(f"CREATE OR REPLACE TABLE {db}.t USING iceberg AS SELECT 1 AS a")
    assert sql(f"SELECT * FROM {db}.t") == [(1,)]
    sql(f"DROP TABLE {db}.t PURGE")
    sql(f"DROP NAMESPACE {db}")


def test_spark_keeps_views(spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE lake.views")
    spark.sql("CREATE TABLE lake.views.t USING iceberg AS SELECT 1 AS id")
    spark.sql("CREATE VIEW lake.views.v AS SELECT id FROM lake.views.t")
    spark.sql("CREATE OR REPLACE VIEW lake.views.v (x COMMENT 'one more') AS SELECT id + 1 FROM lake.views.t")
    assert [row.x for row in spark.sql("SELECT * FROM lake.views.v").collect()] == [2]
    assert [row.viewName for row in spark.sql("SHOW VIEWS IN lake.views").collect()] == ["v"]
    spark.sql("DROP VIEW lake.views.v")
    spark.sql("DROP TABLE lake.views.t")


def test_what_one_engine_writes_the_others_read(spark: SparkSession, catalog: RunningCatalog) -> None:
    spark.sql("CREATE NAMESPACE lake.shared")
    spark.sql("CREATE TABLE lake.shared.t (id BIGINT, name STRING) USING iceberg")
    spark.sql("INSERT INTO lake.shared.t VALUES (1, 'spark')")
    duck = duckdb_on(catalog.uri)
    duck.execute("INSERT INTO lake.shared.t VALUES (2, 'duckdb')")
    table = pyiceberg_on(catalog.uri).load_table("shared.t")
    table.append(pa.table({"id": [3], "name": ["pyiceberg"]}, schema=table.schema().as_arrow()))
    expected = [(1, "spark"), (2, "duckdb"), (3, "pyiceberg")]
    assert [tuple(row) for row in spark.sql("SELECT * FROM lake.shared.t ORDER BY id").collect()] == expected
    assert duckdb_on(catalog.uri).execute("SELECT * FROM lake.shared.t ORDER BY id").fetchall() == expected
    assert sorted(zip(*table.refresh().scan().to_arrow().to_pydict().values(), strict=True)) == expected
