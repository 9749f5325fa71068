"""The text that attaches each engine to the tables: a program, a script, a command line. Pure.

    where the catalog and its files are  ->  text that can be pasted and run

Keys of an object store are never printed. Engines find them in the environment (AWS_ACCESS_KEY_ID ...). DuckDB does not
look there, so its text contains placeholders to replace.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from lakestream.administration.sql.duckdb_extensions import EXTENSIONS, duckdb_version, extension_path, packages
from lakestream.administration.sql.duckdb_secret import secret_statement
from lakestream.cli.java_trust import trust_options
from lakestream.table.spark.catalog import CATALOG, catalog_settings, library_settings
from lakestream.table.spark.remote_files import remote_files
from lakestream.world.objects.remote_options import short_names

_PASSWORD = "<PASSWORD>"
_CREDENTIAL = f"spark.sql.catalog.{CATALOG}.credential"
_KEYS = ("access_key_id", "secret_access_key", "session_token", "token")
_PYICEBERG_NAMES = {"endpoint": "s3.endpoint", "endpoint_url": "s3.endpoint", "region": "s3.region"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLogin:
    """Whom an engine logs in as. Its password is never printed."""

    user: str
    password_file: str | None = None
    """Where the password is read when the text runs; None: the text has a placeholder for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lake:
    """The location of the catalog and its files, as engines see it."""

    catalog_uri: str
    objects_url: str
    objects_options: Mapping[str, str] = field(default_factory=dict)
    login: "EngineLogin | None" = None
    ca: str | None = None
    """A PEM file with the authorities to trust, if not those of the system."""

    @property
    def token_uri(self) -> str:
        return f"{self.catalog_uri}/v1/oauth/tokens"

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
        *([f"SET ca_cert_file = '{lake.ca}'"] if lake.ca else []),
        *_duckdb_attachment(lake),
        f"USE {CATALOG}.streams",
        "SHOW TABLES",
    ]
    return _duckdb_heading() + "".join(f"{statement};\n" for statement in statements)


def _duckdb_attachment(lake: Lake) -> list[str]:
    if lake.login is None:
        return [f"ATTACH '' AS {CATALOG} (TYPE iceberg, ENDPOINT '{lake.catalog_uri}', AUTHORIZATION_TYPE 'none')"]
    user = lake.login.user.replace("'", "''")
    return [
        f"CREATE SECRET {CATALOG}_login (TYPE iceberg, CLIENT_ID '{user}', CLIENT_SECRET '{_PASSWORD}', "
        f"OAUTH2_SERVER_URI '{lake.token_uri}')",
        f"ATTACH '' AS {CATALOG} (TYPE iceberg, ENDPOINT '{lake.catalog_uri}', SECRET {CATALOG}_login)",
    ]


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
    if lake.login is not None:
        lines += f"    'credential': {_credential_code(lake.login)},\n    'oauth2-server-uri': {lake.token_uri!r},\n"
    if lake.ca is not None:
        lines += f"    'ssl': {{'cabundle': {lake.ca!r}}},\n"
    return (
        "from pyiceberg.catalog import load_catalog\n\n"
        f"{CATALOG} = load_catalog({CATALOG!r}, **{{\n{lines}}})\n"
        f"print({CATALOG}.list_tables('streams'))\n"
    )


def pyspark_text(lake: Lake) -> str:
    """A Python program."""
    configs = "".join(f"    .config({name!r}, {value!r})\n" for name, value in _spark_settings(lake).items())
    if lake.login is not None:
        configs += f"    .config({_CREDENTIAL!r}, {_credential_code(lake.login)})\n"
    return (
        "from pyspark.sql import SparkSession\n\n"
        f"spark = (\n    SparkSession.builder\n{configs}    .getOrCreate()\n)\n"
        "spark.sql('SHOW TABLES IN streams').show(truncate=False)\n"
    )


def spark_sql_text(lake: Lake) -> str:
    """A command line for Spark's own shell, which would otherwise leave a Hive database in the current folder."""
    settings = {**_spark_settings(lake), "spark.sql.catalogImplementation": "in-memory"}
    configs = [f"--conf {quote(f'{name}={value}')}" for name, value in settings.items()]
    if lake.login is not None:
        password = f"$(head -n 1 {quote(lake.login.password_file)})" if lake.login.password_file else _PASSWORD
        configs.append(f'--conf {quote(f"{_CREDENTIAL}={lake.login.user}:")}"{password}"')
    return " \\\n  ".join(["spark-sql", *configs]) + "\n"


def _spark_settings(lake: Lake) -> dict[str, str]:
    files = remote_files(lake.objects_url, lake.open_options)
    return {
        **library_settings(files),
        **catalog_settings(lake.catalog_uri, files, {}),
        "spark.sql.defaultCatalog": CATALOG,
        **_spark_login(lake),
    }


def _spark_login(lake: Lake) -> dict[str, str]:
    """Java trusts its own store: `ca.p12` lies beside the authorities that `lakestream up --secure` made."""
    prefix = f"spark.sql.catalog.{CATALOG}"
    asked = {f"{prefix}.rest.auth.type": "oauth2", f"{prefix}.oauth2-server-uri": lake.token_uri}
    login = {} if lake.login is None else asked
    if lake.ca is None:
        return login
    trust = trust_options(Path(lake.ca).with_suffix(".p12"))
    return {**login, "spark.driver.extraJavaOptions": trust, "spark.executor.extraJavaOptions": trust}


def _credential_code(login: EngineLogin) -> str:
    """Python that has the user and the password."""
    if login.password_file is None:
        return repr(f"{login.user}:{_PASSWORD}")
    return f"{login.user + ':'!r} + open({login.password_file!r}).readline().rstrip()"


TEXTS: dict[str, Callable[[Lake], str]] = {
    "duckdb": duckdb_text,
    "pyiceberg": pyiceberg_text,
    "pyspark": pyspark_text,
    "spark-sql": spark_sql_text,
}
"""By the name of the engine."""
