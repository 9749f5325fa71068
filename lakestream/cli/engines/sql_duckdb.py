"""Runs a query on DuckDB, attached to the catalog. Its extensions come from installed packages, without downloads."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import duckdb
import pyarrow as pa

from lakestream.administration.sql.duckdb_extensions import EXTENSIONS, extension_path
from lakestream.cli.failures import CommandFailed, MissingTable, WrongUse

_ROWS_PER_BATCH = 10_000
_INTERRUPTED = "Query interrupted"
"""DuckDB's message for Ctrl-C."""
_WRAPPED = re.compile(r'"exception_message":("(?:[^"\\]|\\.)*")')
"""DuckDB's message as a JSON string, as in some statements: the catalog's answer is escaped twice there."""
_FROM_THE_CATALOG = re.compile(r'"message":("(?:[^"\\]|\\.)*")|^ *message: (.+)$', re.MULTILINE)
_DOTTED_NAMESPACE = "NameListToString"
"""Part of DuckDB's message about a name with more than three parts."""
_MISSING_TABLE = re.compile(r"Table with name (.+) does not exist!")
_SIGNS_OF_S3 = ("s3://", "amazonaws.com", "HTTP 403")
"""Parts of DuckDB's messages when it cannot reach files there."""


@contextmanager
def ask_duckdb(
    uri: str,
    query: str,
    *,
    secret: str | None = None,
    headers: Mapping[str, str] | None = None,
    ca: Path | None = None,
) -> Iterator[pa.RecordBatchReader]:
    """The answer to `query`, with the catalog at `uri` attached as `lake` and the topics' tables as the default schema.
    `headers` are sent to the catalog; `secret` gives access to the files (duckdb_secret.py); `ca` has the authorities
    to trust. Raises MissingTable, CommandFailed."""
    _check_is_one(query)
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as connection:
        try:
            _attach(connection, uri, secret, headers or {}, ca)
            answer = connection.execute(query).to_arrow_reader(_ROWS_PER_BATCH)
            yield _without_nothing(answer) if _may_answer_nothing(query) else answer
        except (duckdb.Error, pa.ArrowInvalid) as error:
            if (missing := _MISSING_TABLE.search(str(error))) is not None:
                raise MissingTable(missing[1]) from None
            raise CommandFailed(advice(str(error))) from None
        except RuntimeError as error:
            if _INTERRUPTED not in str(error):
                raise
            raise KeyboardInterrupt from None


def _check_is_one(query: str) -> None:
    """Check that there is one query, since two answers would be two JSON documents, and DuckDB returns only the last
    one's. Looks at tokens, since DuckDB makes several statements of one PIVOT."""
    text = query.encode()
    is_end = [text[at : at + 1] == b";" for at, _ in duckdb.tokenize(query)]
    count = sum(not ends for ends, _ in groupby(is_end))
    if not count:
        raise WrongUse("there is no query: try `lakestream sql 'SHOW TABLES'`")
    if count > 1:
        raise WrongUse(f"the query has {count} statements: give one, and call `lakestream sql` for each")


def _may_answer_nothing(query: str) -> bool:
    """CREATE SCHEMA does, CREATE TABLE AS answers with a count."""
    return duckdb.ExpectedResultType.NOTHING in duckdb.extract_statements(query)[-1].expected_result_type


def _without_nothing(answer: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """DuckDB answers with a column `Count` without rows where there is nothing to answer: no column, then."""
    found = answer.read_all()
    return (found if found.num_rows else pa.table({})).to_reader()


def _attach(
    connection: duckdb.DuckDBPyConnection, uri: str, secret: str | None, headers: Mapping[str, str], ca: Path | None
) -> None:
    for name in EXTENSIONS:
        connection.execute(f"LOAD {_quoted(extension_path(name))}")
    if ca is not None:
        connection.execute(f"SET ca_cert_file = {_quoted(str(ca.expanduser()))}")
    if secret is not None:
        connection.execute(secret)
    connection.execute("SET TimeZone = 'UTC'")
    options = ["TYPE iceberg", f"ENDPOINT {_quoted(uri)}", "AUTHORIZATION_TYPE 'none'"]
    if headers:
        pairs = ", ".join(f"{_quoted(name)}: {_quoted(value)}" for name, value in headers.items())
        options.append(f"EXTRA_HTTP_HEADERS MAP {{{pairs}}}")
    connection.execute(f"ATTACH '' AS lake ({', '.join(options)})")
    connection.execute("USE lake.streams")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _catalogs_words(said: str) -> str | None:
    """The catalog's answer, extracted from DuckDB's message around it: the request, the body, the status."""
    try:
        if (wrapped := _WRAPPED.search(said)) is not None:
            said = str(json.loads(wrapped[1]))
        if (found := _FROM_THE_CATALOG.search(said)) is None:
            return None
        in_body, on_line = found.groups()
        return str(json.loads(in_body) if in_body else on_line)
    except ValueError:
        return None  # cut in the middle


def advice(said: str) -> str:
    """DuckDB's message, with advice if the message alone does not help."""
    said = _catalogs_words(said) or said.strip()
    if any(sign in said for sign in _SIGNS_OF_S3):
        return (
            f"{said}\nThe tables' files are in S3: run this with the service's settings (--config), which have its "
            "endpoint, region and keys in `objects` and `objects_options`"
        )
    if _DOTTED_NAMESPACE in said:
        return f'{said}\nDuckDB takes the namespace of a table in quotes where it has dots: lake."sales.eu".orders'
    return said
