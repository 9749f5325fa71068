"""One Spark session with Iceberg, for a whole test run: it takes ten seconds to start, and a job a third of one.

Catalogs are attached per test: `attach(spark, name, uri)`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from lakestream.table.spark.class_archive import archive_options

ICEBERG_VERSION = "1.12.0"
ICEBERG_RUNTIME = f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{ICEBERG_VERSION}"
_CACHE = Path(__file__).parents[1] / ".cache" / "iceberg"
_FETCH_SECONDS_MAX = 300


def missing_spark() -> str | None:
    """Why there can be no session here, or None."""
    if shutil.which("java") is None:
        return "no Java here: Spark needs Java 17"
    if not _jar().exists() and shutil.which("mvn") is None:
        return f"no Maven here to fetch {ICEBERG_RUNTIME}"
    return None


@contextmanager
def spark_session(folder: Path) -> Iterator[SparkSession]:
    """`folder` takes what Spark leaves behind."""
    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers without pyarrow otherwise
    settings = {
        "spark.jars": str(iceberg_jar()),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        # Small queries, many kinds of them: quick to compile is quicker than quick to run.
        "spark.driver.extraJavaOptions": (
            f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={folder} {archive_options()}"
        ),
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.local.dir": str(folder),
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[2]").appName("lakestream-tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def attach(spark: SparkSession, name: str, uri: str) -> None:
    """Make the catalog at `uri` known to Spark as `name`. Nothing is cached, so that every query asks the catalog."""
    settings = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": uri, ".cache-enabled": "false"}
    for end, value in settings.items():
        spark.conf.set(f"spark.sql.catalog.{name}{end}", value)


def iceberg_jar() -> Path:
    """Fetched on first use."""
    if not _jar().exists():
        arriving = _CACHE / f"arriving-{os.getpid()}"  # renamed when whole: an interrupted download is never used
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ICEBERG_RUNTIME}"]
        subprocess.run([*command, f"-DoutputDirectory={arriving}"], check=True, timeout=_FETCH_SECONDS_MAX)
        (arriving / _jar().name).rename(_jar())
        arriving.rmdir()
    return _jar()


def _jar() -> Path:
    return _CACHE / f"iceberg-spark-runtime-4.1_2.13-{ICEBERG_VERSION}.jar"
