"""A Spark session that reads tables through the catalog, as a stock Spark with Iceberg does; for commands.

Not the pipeline's session (session.py): this one has Iceberg's library in the JVM, ends with the command, and asks the
catalog anew for every query.
"""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakestream.model.errors import Unavailable
from lakestream.table.class_archive import archive_options
from lakestream.table.remote_files import RemoteFiles
from lakestream.table.session import local_addresses

CATALOG = "lake"
ICEBERG_PACKAGE = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
"""It must fit Spark's version exactly. Spark fetches it from Maven Central once and keeps it."""


class NoSpark(Unavailable):
    """Spark did not start. Its own message says why."""


@contextmanager
def lake_session(
    uri: str, *, name: str, master: str, files: RemoteFiles, headers: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """With the catalog at `uri` as `lake`, asked with `headers`. Where Spark runs already it is used, in a session of
    its own, and left."""
    running = SparkSession.getActiveSession()
    session = _open(name, master, files) if running is None else running.newSession()
    for setting, value in _catalog(uri, files, headers or {}).items():
        session.conf.set(setting, value)
    try:
        yield session
    finally:
        if running is None:
            session.stop()


def first_line(error: BaseException) -> str:
    """What went wrong, without the plan and the stack that Spark adds."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _open(name: str, master: str, files: RemoteFiles) -> SparkSession:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise NoSpark("Spark needs Java 17 or later: install it, or set JAVA_HOME")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder: SparkSession.Builder = SparkSession.builder
    builder = builder.master(master).appName(name)
    for setting, value in {**_settings(files), **local_addresses(master)}.items():
        builder = builder.config(setting, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, OSError, RuntimeError) as error:
        raise NoSpark(f"Spark did not start: {first_line(error)}") from error


def _settings(files: RemoteFiles) -> dict[str, str]:
    return {
        "spark.jars.packages": ",".join((ICEBERG_PACKAGE, *files.packages)),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.driver.defaultJavaOptions": archive_options(),  # before what someone's own configuration adds
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }


def _catalog(uri: str, files: RemoteFiles, headers: Mapping[str, str]) -> dict[str, str]:
    prefix = f"spark.sql.catalog.{CATALOG}"
    return {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "rest",
        f"{prefix}.uri": uri,
        f"{prefix}.cache-enabled": "false",
        **{f"{prefix}.{name}": value for name, value in files.catalog.items()},
        **{f"{prefix}.header.{name}": value for name, value in headers.items()},
    }
