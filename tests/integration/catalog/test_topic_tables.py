"""Commits made in Python, read by Spark, DuckDB, PyIceberg and Iceberg's own Java library; strangers on `main`."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakestream.catalog.commits.rolling import FAN_IN
from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.catalog.gateway import RunningCatalog
from tests.integration.catalog.topic_files import TopicTable, new_topic_table

METADATA_TABLES = (
    *("entries", "files", "data_files", "delete_files", "history", "metadata_log_entries", "snapshots", "refs"),
    *("manifests", "partitions", "all_data_files", "all_delete_files", "all_files", "all_manifests", "all_entries"),
)
VERSIONS = pytest.mark.parametrize("version", [2, 3])


def ids(spark: SparkSession, table: str) -> list[int]:
    return sorted(row.id for row in spark.sql(f"SELECT id FROM {table}").collect())


def java_table(spark: SparkSession, topic: TopicTable) -> Any:
    """The table, loaded by Iceberg's own library."""
    jvm: Any = spark._jvm
    properties = jvm.java.util.HashMap()
    properties.put("uri", topic.catalog.uri)
    catalog = jvm.org.apache.iceberg.CatalogUtil.loadCatalog(
        "org.apache.iceberg.rest.RESTCatalog", "java", properties, spark._jsc.hadoopConfiguration()
    )
    return catalog.loadTable(jvm.org.apache.iceberg.catalog.TableIdentifier.parse(f"streams.{topic.name}"))


def snapshots_in_file(spark: SparkSession, location: str) -> int:
    """The metadata file itself, which the catalog's answers spare its readers, read by Iceberg's own library."""
    iceberg: Any = spark._jvm.org.apache.iceberg  # type: ignore[union-attr]
    assert location.endswith(".gz.metadata.json")
    files = iceberg.hadoop.HadoopFileIO(spark._jsc.hadoopConfiguration())
    return int(iceberg.TableMetadataParser.read(files.newInputFile(location)).snapshots().size())


def planned(table: Any, ref: str) -> list[Any]:
    scan = table.newScan().useRef(ref).planFiles()
    found, tasks = scan.iterator(), []
    while found.hasNext():
        tasks.append(found.next())
    scan.close()
    return tasks


@VERSIONS
def test_our_commits_are_read_by_everyone(spark: SparkSession, catalog: RunningCatalog, version: int) -> None:
    topic = new_topic_table(catalog, f"everyone{version}", format_version=version)
    commits = 2 * FAN_IN + 3
    for _ in range(commits):  # manifests are rolled together on the way
        topic.append(3)
    everything = list(range(3 * commits))

    assert ids(spark, topic.sql) == everything
    assert ids(spark, f"{topic.sql}__log") == everything
    assert spark.sql(f"SELECT count(*) FROM {topic.sql} WHERE id >= 10 AND id < 20").first()[0] == 10  # type: ignore[index]
    duck = duckdb_on(catalog.uri)
    assert duck.execute(f"SELECT count(*), count(DISTINCT id), sum(id) FROM {topic.sql}").fetchone() == (
        len(everything),
        len(everything),
        sum(everything),
    )
    iceberg = pyiceberg_on(catalog.uri).load_table(f"streams.{topic.name}")
    assert sorted(iceberg.scan().to_arrow()["id"].to_pylist()) == everything
    assert iceberg.scan(row_filter="id >= 10 and id < 20").to_arrow().num_rows == 10

    table = java_table(spark, topic)
    assert snapshots_in_file(spark, iceberg.metadata_location) == commits + 1
    tasks = planned(table, "log")
    assert sorted(task.file().recordCount() for task in tasks) == [3] * commits
    assert sorted(task.file().dataSequenceNumber() for task in tasks) == list(range(2, commits + 2))
    assert table.currentSnapshot().summary()["total-records"] == str(len(everything))
    if version == 3:
        assert sorted(task.file().firstRowId() for task in tasks) == list(range(0, 3 * commits, 3))


@VERSIONS
def test_every_metadata_table_can_be_read(spark: SparkSession, catalog: RunningCatalog, version: int) -> None:
    topic = new_topic_table(catalog, f"inside{version}", format_version=version)
    for _ in range(FAN_IN + 2):
        topic.append(2)
    counts = {name: spark.sql(f"SELECT * FROM {topic.sql}.{name}").count() for name in METADATA_TABLES}
    commits = FAN_IN + 2
    assert counts["files"] == counts["data_files"] == counts["entries"] == commits
    assert counts["snapshots"] == counts["history"] == commits + 1
    assert (counts["refs"], counts["delete_files"], counts["partitions"]) == (2, 0, 1)
    assert counts["all_data_files"] == commits + FAN_IN  # one row for each manifest that names the file
    rolled = spark.sql(
        f"SELECT existing_data_files_count e, added_data_files_count a FROM {topic.sql}.manifests ORDER BY e DESC"
    )
    assert [tuple(row) for row in rolled.collect()] == [(FAN_IN, 0), (0, 1), (0, 1)]


@VERSIONS
def test_what_retention_removes_is_gone_for_everyone(
    spark: SparkSession, catalog: RunningCatalog, version: int
) -> None:
    topic = new_topic_table(catalog, f"trimmed{version}", format_version=version)
    for _ in range(FAN_IN + 2):  # some of the manifests are rolled together
        topic.append(3)
    count = 3 * (FAN_IN + 2)

    def check(log: list[int], main: list[int]) -> None:
        assert ids(spark, topic.sql) == main
        assert ids(spark, f"{topic.sql}__log") == log
        assert duckdb_on(catalog.uri).execute(f"SELECT count(*), sum(id) FROM {topic.sql}").fetchone() == (
            len(main),
            sum(main),
        )
        read = pyiceberg_on(catalog.uri).load_table(f"streams.{topic.name}")
        assert sorted(read.scan().to_arrow()["id"].to_pylist()) == main
        table = java_table(spark, topic)
        assert sum(task.file().recordCount() for task in planned(table, "log")) == len(log)
        summary = table.snapshot("log").summary()
        assert summary["total-records"] == str(len(log))
        assert summary["total-files-size"] == str(sum(task.file().fileSizeInBytes() for task in planned(table, "log")))
        for name in METADATA_TABLES:
            spark.sql(f"SELECT * FROM {topic.sql}.{name}").count()

    gone = topic.trim(2)
    log = list(range(6, count))
    check(log, log)
    if version == 3:
        rows = spark.sql(f"SELECT id, _row_id FROM {topic.sql}").collect()
        assert all(row.id == row._row_id for row in rows), "rows that stay keep their ids"
    spark.sql(
        f"DELETE FROM {topic.sql} WHERE id IN (7, 20)"
    )  # deletes lie beside a file that goes, and beside one that stays
    topic.refresh()
    gone += topic.trim(1)
    topic.append(3)
    log = list(range(9, count + 3))
    main = [id for id in log if id != 20]
    check(log, main)
    assert all(path.exists() for path in gone)
    topic.forget()
    assert not any(path.exists() for path in gone)
    topic.append(3)
    check([*log, count + 3, count + 4, count + 5], [*main, count + 3, count + 4, count + 5])


@VERSIONS
def test_strangers_change_main_and_the_log_stays_whole(
    spark: SparkSession, catalog: RunningCatalog, tmp_path: Path, version: int
) -> None:
    topic = new_topic_table(catalog, f"strangers{version}", format_version=version)
    topic.append(10)
    seen: list[int] = []
    stream = (
        spark.readStream.format("iceberg")
        .option("streaming-skip-overwrite-snapshots", "true")
        .option("streaming-skip-delete-snapshots", "true")
        .load(topic.sql)
        .select("id")
        .writeStream.foreachBatch(lambda frame, _: seen.extend(row.id for row in frame.collect()))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
    )

    def read_on() -> None:
        stream.trigger(availableNow=True).start().awaitTermination(60)

    def changed_by(query: str) -> None:
        spark.sql(query)
        topic.refresh()

    read_on()
    changed_by(f"DELETE FROM {topic.sql} WHERE id % 10 = 0")
    topic.append(10)
    name = f"streams.{topic.name}"
    changed_by(
        f"CALL lake.system.rewrite_data_files(table => '{name}', strategy => 'sort', sort_order => 'name',"
        " options => map('rewrite-all', 'true'))"
    )
    topic.append(10, only_log=1)
    read_on()
    changed_by(f"CALL lake.system.expire_snapshots(table => '{name}', older_than => timestamp '2100-01-01')")
    topic.append(10)

    everything = list(range(41))
    on_main = [id for id in everything if id not in (0, 30)]
    assert sorted(seen) == list(range(30))  # each row once, also those that were deleted later
    assert ids(spark, f"{topic.sql}__log") == everything
    assert ids(spark, topic.sql) == on_main
    assert duckdb_on(catalog.uri).execute(f"SELECT count(*) FROM {topic.sql}").fetchone() == (len(on_main),)
    read = pyiceberg_on(catalog.uri)
    assert read.load_table(f"{name}__log").scan().to_arrow().num_rows == len(everything)
    if version == 3:
        row_ids = spark.sql(f"SELECT id, _row_id FROM {topic.sql} VERSION AS OF 'log'").collect()
        of_log = {row.id: row._row_id for row in row_ids}
        assert len(set(of_log.values())) == len(everything) and None not in of_log.values()
        assert all(of_log[row.id] == row._row_id for row in spark.sql(f"SELECT id, _row_id FROM {topic.sql}").collect())


def test_what_would_harm_a_topic_is_refused_with_a_reason(spark: SparkSession, catalog: RunningCatalog) -> None:
    topic = new_topic_table(catalog, "guarded", format_version=2)
    topic.append(5)
    duck = duckdb_on(catalog.uri)
    for run, query, reason in [
        (spark.sql, f"INSERT INTO {topic.sql} (id, name) VALUES (1, 'x')", "producing"),
        (spark.sql, f"DROP TABLE {topic.sql}", "topic delete"),
        (spark.sql, f"CREATE OR REPLACE TABLE {topic.sql} USING iceberg AS SELECT 1 a", "refused"),
        (spark.sql, f"ALTER TABLE {topic.sql} DROP BRANCH log", "Kafka"),
        (spark.sql, f"ALTER TABLE {topic.sql} REPLACE BRANCH log AS OF VERSION {topic.first_snapshot}", "Kafka"),
        (spark.sql, f"ALTER TABLE {topic.sql} DROP COLUMN __offset", "__offset"),
        (spark.sql, f"DELETE FROM {topic.sql}__log WHERE id = 1", "read-only"),
        (spark.sql, "CREATE TABLE lake.streams.mine (a INT) USING iceberg", "topic create"),
        (duck.execute, f"DROP TABLE {topic.sql}", "topic delete"),
    ]:
        with pytest.raises(Exception, match=reason):
            run(query)
            pytest.fail(f"not refused: {query}")
    assert ids(spark, topic.sql) == ids(spark, f"{topic.sql}__log") == list(range(5))
    spark.sql(f"ALTER TABLE {topic.sql} ADD COLUMN mine INT")
    spark.sql(f"ALTER TABLE {topic.sql} SET TBLPROPERTIES ('comment' = 'x')")
    topic.refresh()
    topic.append(5)
    assert ids(spark, topic.sql) == list(range(10))
