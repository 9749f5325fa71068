"""What a Spark needs to read the tables: Iceberg's library, and the catalog under the name `lake`.

Ours and everyone's: `lake_session.py` sets it, `lakestream connect` prints it. No Spark is needed to say it.
"""

from collections.abc import Mapping

from lakestream.table.spark.remote_files import RemoteFiles

CATALOG = "lake"
ICEBERG_PACKAGE = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
"""It must fit Spark's version exactly. Spark fetches it from Maven Central once and keeps it."""


def library_settings(files: RemoteFiles) -> dict[str, str]:
    """Before Spark starts."""
    return {
        "spark.jars.packages": ",".join((ICEBERG_PACKAGE, *files.packages)),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    }


def catalog_settings(uri: str, files: RemoteFiles, headers: Mapping[str, str]) -> dict[str, str]:
    """At any time, for each session. Nothing that Spark knows of a table is kept: it would for 30 seconds."""
    prefix = f"spark.sql.catalog.{CATALOG}"
    return {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "rest",
        f"{prefix}.uri": uri,
        f"{prefix}.cache-enabled": "false",
        **{f"{prefix}.{name}": value for name, value in files.catalog.items()},
        **{f"{prefix}.header.{name}": value for name, value in headers.items()},
    }
