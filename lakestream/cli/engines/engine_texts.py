"""The text that attaches each engine to the tables: a program, a script, a command line. Pure.

    where the catalog and its files are  ->  text that can be pasted and run

Keys of an object store are never printed. Engines find them in the environment (AWS_ACCESS_KEY_ID ...). DuckDB does not
look there, so its text contains placeholders to replace.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from shlex import quote

from lakestream.administration.sql.duckdb_extensions import EXTENSIONS, duckdb_version, extension_path, packages
from lakestream.administration.sql.duckdb_secret import secret_statement
from lakestream.table.spark.catalog import CATALOG, catalog_settings, library_settings
from lakestream.table.spark.remote_files import remote_files
from lakestream.world.objects.remote_options import short_names

_KEYS = ("access_key_id", "secret_access_key", "session_token", "token")
_PYICEBERG_NAMES = {"endpoint": "s3.endpoint", "endpoint_url": "s3.endpoint", "region": "s3.region"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lake:
    """The location of the catalog and its files, as engines see it."""

    catalog_uri: str
    objects_url: str
    objects_options: Mapping[str, str] = field(default_factory=dict)

    @property
    def open_options(self) -> dict[str, str]:
        """Options without keys, by their short names."""
        return {name: value for name, value in short_names(self.objects_options).items() if name not in _KEYS}


def duckdb_text(lake: Lake) -> str:
    """A script for its shell: `duckdb -init lake.sql`."""
    named_keys = {name: f"<AWS_{name.upper()}>" for name in ("access_key_id", "secret_access_key")}
    secret = secret_statement(lake.objects_url, {**lake.open_options, **named_keys}, {})
    statements = [
        *(f"INSTALL {name}" for name in EXTENSIONS),
        "LOAD iceberg",
        *([secret] if secret else []),
        f"ATTACH '' AS {CATALOG} (TYPE iceberg, ENDPOINT '{lake.catalog_uri}', AUTHORIZATION_TYPE 'none')",
        f"USE {CATALOG}.streams",
        "SHOW TABLES",
    ]
    return _duckdb_heading() + "".join(f"{statement};\n" for statement in statements)


def _duckdb_heading() -> str:
    """Which version this is for, and what to do where it cannot download its extensions."""
    lines = [
        f"For DuckDB {duckdb_version()}. Where it cannot reach extensions.duckdb.org, its extensions come from PyPI:",
        f"  pip install {' '.join(packages())}",
        "and these lines take the place of INSTALL and LOAD below:",
        *(f"  LOAD '{extension_path(name)}';" for name in EXTENSIONS),
    ]
    return "".join(f"-- {line}\n" for line in lines)


def pyiceberg_text(lake: Lake) -> str:
    """A Python program."""
    files = {theirs: lake.open_options[ours] for ours, theirs in _PYICEBERG_NAMES.items() if ours in lake.open_options}
    told = {"type": "rest", "uri": lake.catalog_uri, **files}
    lines = "".join(f"    {name!r}: {value!r},\n" for name, value in told.items())
    return (
        "from pyiceberg.catalog import load_catalog\n\n"
        f"{CATALOG} = load_catalog({CATALOG!r}, **{{\n{lines}}})\n"
        f"print({CATALOG}.list_tables('streams'))\n"
    )


def pyspark_text(lake: Lake) -> str:
    """A Python program."""
    configs = "".join(f"    .config({name!r}, {value!r})\n" for name, value in _spark_settings(lake).items())
    return (
        "from pyspark.sql import SparkSession\n\n"
        f"spark = (\n    SparkSession.builder\n{configs}    .getOrCreate()\n)\n"
        "spark.sql('SHOW TABLES IN streams').show(truncate=False)\n"
    )


def spark_sql_text(lake: Lake) -> str:
    """A command line for Spark's own shell, which would otherwise leave a Hive database in the current folder."""
    settings = {**_spark_settings(lake), "spark.sql.catalogImplementation": "in-memory"}
    configs = [f"--conf {quote(f'{name}={value}')}" for name, value in settings.items()]
    return " \\\n  ".join(["spark-sql", *configs]) + "\n"


def _spark_settings(lake: Lake) -> dict[str, str]:
    files = remote_files(lake.objects_url, lake.open_options)
    return {
        **library_settings(files),
        **catalog_settings(lake.catalog_uri, files, {}),
        "spark.sql.defaultCatalog": CATALOG,
    }


TEXTS: dict[str, Callable[[Lake], str]] = {
    "duckdb": duckdb_text,
    "pyiceberg": pyiceberg_text,
    "pyspark": pyspark_text,
    "spark-sql": spark_sql_text,
}
"""By the name of the engine."""
