"""lakestream sql: queries the tables, with DuckDB in this process, or with Spark.

lakestream sql "SELECT count(*) FROM orders"
lakestream sql "SELECT __offset, __value FROM orders LIMIT 5" --json
lakestream sql "SELECT * FROM streams.orders.snapshots" --engine spark
lakestream sql "CREATE TABLE orders (id BIGINT, sku VARCHAR)"      makes the topic `orders` and its table

Both engines find the tables as any other engine would: through the gateway's catalog. It is attached as `lake`, and
unqualified names mean the topics' tables. The command imports an engine only when it needs it: `--help` waits for none
of them, and Spark takes ten seconds to start.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import typer

from lakestream.administration.sql.duckdb_secret import secret_statement
from lakestream.cli.client.gateway_client import CATALOG_PATH, ask_gateway
from lakestream.cli.client.table_wait import wait_for_table
from lakestream.cli.engines.sql_effects import effect_of, told
from lakestream.cli.failures import MissingTable, WrongUse
from lakestream.cli.java_trust import trust_in_java
from lakestream.cli.options import Config, Http, SetValues, gateway_at, loaded_settings
from lakestream.cli.output import say


class Engine(StrEnum):
    DUCKDB = "duckdb"
    SPARK = "spark"


def sql(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to ask, e.g. 'SELECT count(*) FROM orders'.")],
    engine: Annotated[Engine, typer.Option(help="Who answers.")] = Engine.DUCKDB,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array of rows.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a header line.")] = False,
    http: Http = None,
    config: Config = None,
    values: SetValues = None,
) -> None:
    """Query the tables with SQL."""
    if as_json and as_csv:
        raise WrongUse("--json and --csv exclude each other: choose one")
    if not query.strip():
        raise WrongUse("there is no query: try `lakestream sql 'SHOW TABLES'`")
    address = gateway_at(config, values, http)
    ask_gateway(address, f"{CATALOG_PATH}/v1/config")  # engines explain a missing gateway less well
    uri = f"{address.url}{CATALOG_PATH}"
    settings = loaded_settings(config, values).settings
    if engine is Engine.SPARK:
        say("starting Spark, which takes ten seconds ...")
        if address.ca is not None:
            trust_in_java(address.ca)
        from lakestream.table.spark.query import ask_spark

        ask = partial(
            ask_spark,
            uri,
            query,
            master=settings.spark.master,
            conf=settings.spark.conf,
            objects_url=settings.objects_url,
            objects_options=settings.objects_options,
            headers=address.headers,
        )
    else:
        secret = secret_statement(settings.objects_url, settings.objects_options, os.environ)
        from lakestream.cli.engines.sql_duckdb import ask_duckdb

        ask = partial(ask_duckdb, uri, query, secret=secret, headers=address.headers, ca=address.ca)
    from lakestream.cli.engines.sql_answer import print_csv_rows, print_json_rows, print_rows

    show = print_json_rows if as_json else print_csv_rows if as_csv else print_rows
    try:
        _show(ask, show)
    except MissingTable as missing:
        if not wait_for_table(address, missing.name):
            raise
        _show(ask, show)
    if (effect := effect_of(query)) is not None and (sentence := told(address, effect)) is not None:
        say(sentence)


def _show(ask: Callable[[], AbstractContextManager[Any]], show: Callable[[Any], None]) -> None:
    with ask() as answer:
        show(answer)
