"""An engine that Lakestream knows nothing of: stock Spark with Iceberg, attached to the catalog, on a topic's table.

stranger = Stranger(spark, lake, "orders")
stranger.sql("DELETE FROM {t} WHERE __offset < 100")
stranger.call("expire_snapshots", retain_last="1")
"""

import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from tests.integration.tables.lake import RunningLake
from tests.spark_session import attach


class Stranger:
    def __init__(self, spark: SparkSession, lake: RunningLake, topic: str) -> None:
        self.spark = spark
        self.lake = lake
        self.topic = topic
        # Spark keeps a catalog by its name: each lake has its own.
        self._catalog = f"lake_at_{lake.http.rpartition(':')[2]}"
        self.table = f"{self._catalog}.streams.{topic}"
        attach(spark, self._catalog, lake.uri)

    def sql(self, text: str) -> list[Any]:
        return list(self.spark.sql(text.format(t=self.table)).collect())

    def call(self, procedure: str, **arguments: str) -> list[Any]:
        given = "".join(f", {name} => {value}" for name, value in arguments.items())
        return self.sql(f"CALL {self._catalog}.system.{procedure}(table => 'streams.{self.topic}'{given})")

    def alter(self, **properties: str) -> None:
        given = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
        self.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ({given})")

    def heads(self) -> dict[str, int]:
        """Where each branch and tag is."""
        return {row.name: row.snapshot_id for row in self.sql("SELECT name, snapshot_id FROM {t}.refs")}

    def remove_orphans(self) -> list[str]:
        """Java's own action, which takes any time: whatever nothing refers to now, however new. A file is put there for
        it to find. Returns the names of what it deleted."""
        folder = Path(urlsplit(self._java_table().location()).path) / "data"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stray.parquet").write_bytes(b"nobody refers to this")
        time.sleep(0.01)  # Java counts in milliseconds, and what is as old is not older
        actions = self._jvm.spark.actions.SparkActions.get(self.spark._jsparkSession)
        done = actions.deleteOrphanFiles(self._java_table()).olderThan(int(time.time() * 1000)).execute()
        return [path.rpartition("/")[2] for path in done.orphanFileLocations()]

    def expire_in_java(self) -> None:
        """Iceberg's own library, without Spark: it decides for itself which files go."""
        expire = self._java_table().expireSnapshots()
        expire.expireOlderThan(int(time.time() * 1000)).retainLast(1).commit()

    @property
    def _jvm(self) -> Any:
        jvm: Any = self.spark._jvm
        return jvm.org.apache.iceberg

    def _java_table(self) -> Any:
        # Java looks for catalogs in the session of its thread, and every thread of ours has one there.
        jvm: Any = self.spark._jvm
        jvm.org.apache.spark.sql.SparkSession.setActiveSession(self.spark._jsparkSession)
        return self._jvm.spark.Spark3Util.loadIcebergTable(self.spark._jsparkSession, self.table)


class StreamOfMain:
    """A stock stream of `main`, which skips what others change, and what it has seen.

    One that runs on: Iceberg's source cannot be started anew once the snapshot that it began with has expired.
    """

    def __init__(self, stranger: Stranger, folder: Path) -> None:
        self.seen: list[tuple[int, int]] = []
        self._query = (
            stranger.spark.readStream.format("iceberg")
            .option("streaming-skip-overwrite-snapshots", "true")
            .option("streaming-skip-delete-snapshots", "true")
            .load(stranger.table)
            .select("__partition", "__offset")
            .writeStream.foreachBatch(lambda frame, _: self.seen.extend(map(tuple, frame.collect())))
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(processingTime="200 milliseconds")
            .start()
        )

    def read_on(self) -> None:
        """Until it has seen what is in the table now."""
        self._query.processAllAvailable()

    def stop(self) -> None:
        self._query.stop()


def main_of(lake: RunningLake, topic: str) -> dict[tuple[int, int], str | None]:
    """What SQL sees, asked by another engine than the one that changed it."""
    rows = lake.json("sql", f"SELECT __partition AS p, __offset AS o, __value AS v FROM {topic}")
    found = {(row["p"], row["o"]): row["v"] for row in rows}
    assert len(found) == len(rows), "a row twice"
    return found


def check_verify(lake: RunningLake, topic: str) -> None:
    """It passes, and has compared something."""
    done = lake.command("verify", topic, "--json")
    assert done.returncode == 0, done.stdout
    (verdict,) = json.loads(done.stdout.splitlines()[-1])["topics"]
    assert verdict["problems"] == []
    assert verdict["records"] == verdict["rows"] > 0
