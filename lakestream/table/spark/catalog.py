"""The Spark settings that are needed to read the tables: Iceberg's library, and the catalog under the name `lake`.

`lake_session.py` applies them, `lakestream connect` prints them. This module needs no Spark.
"""

from collections.abc import Mapping

from lakestream.table.spark.remote_files import RemoteFiles

CATALOG = "lake"
ICEBERG_PACKAGE = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
"""The version must fit Spark's version exactly. Spark fetches the package from Maven Central once and keeps it."""


def library_settings(files: RemoteFiles) -> dict[str, str]:
    """Settings to pass before Spark starts."""
    return {
        "spark.jars.packages": ",".join((ICEBERG_PACKAGE, *files.packages)),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    }


def catalog_settings(uri: str, files: RemoteFiles, headers: Mapping[str, str]) -> dict[str, str]:
    """Settings for each session, at any time. Spark's cache of tables, which keeps them for 30 seconds, is off."""
    prefix = f"spark.sql.catalog.{CATALOG}"
    return {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "rest",
        f"{prefix}.uri": uri,
        f"{prefix}.cache-enabled": "false",
        **{f"{prefix}.{name}": value for name, value in files.catalog.items()},
        **{f"{prefix}.header.{name}": value for name, value in headers.items()},
    }
