"""The process that runs one query: reads a JSON request from stdin, writes a JSON answer to stdout, ends.

python -m lakestream.administration.sql.worker

Before the query runs, DuckDB is locked: it may open the tables' files and nothing else, and its limits cannot be
raised. The parent ends the process when its time is over (box.py).
"""

import json
import math
import re
import resource
import sys
from typing import Any

import duckdb

from lakestream.administration.sql.duckdb_extensions import EXTENSIONS, extension_path
from lakestream.administration.sql.guard import refusal
from lakestream.model.errors import LakestreamError

_GUESS = re.compile(r"^Did you mean .*\n+", re.MULTILINE)
"""DuckDB's guesses are about its own tables, which nobody asks for here."""
CELL_CHARACTERS_MAX = 2_000
ADDRESS_SPACE_BYTES_MAX = 8 * 1024**3
"""A last resort, far above DuckDB's own limit, which counts only part of what it takes."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """{"columns", "rows", "more"}, or {"error"}."""
    if (why := refusal(request["query"])) is not None:
        return {"error": why}
    try:
        with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as connection:
            _prepare(connection, request)
            found = connection.execute(request["query"])
            columns = [{"name": one[0], "type": str(one[1])} for one in found.description or ()]
            rows = found.fetchmany(request["rows_max"] + 1)
    except (duckdb.Error, LakestreamError) as error:
        return {"error": _GUESS.sub("", str(error)).strip()}
    shown = [[_cell(value) for value in row] for row in rows[: request["rows_max"]]]
    return {"columns": columns, "rows": shown, "more": len(rows) > request["rows_max"]}


def _prepare(connection: duckdb.DuckDBPyConnection, request: dict[str, Any]) -> None:
    for name in EXTENSIONS:
        connection.execute(f"LOAD {_quoted(extension_path(name))}")
    if request["secret"] is not None:
        connection.execute(request["secret"])
    connection.execute("SET TimeZone = 'UTC'")
    options = ["TYPE iceberg", f"ENDPOINT {_quoted(request['uri'])}", "AUTHORIZATION_TYPE 'none'"]
    if request["headers"]:
        pairs = ", ".join(f"{_quoted(name)}: {_quoted(value)}" for name, value in request["headers"].items())
        options.append(f"EXTRA_HTTP_HEADERS MAP {{{pairs}}}")
    connection.execute(f"ATTACH '' AS lake ({', '.join(options)})")
    connection.execute("USE lake.streams")
    folders = ", ".join(map(_quoted, request["folders"]))
    for setting in (
        f"memory_limit = '{request['memory_mib']}MiB'",
        "temp_directory = ''",
        "threads = 1",
        f"allowed_directories = [{folders}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def _cell(value: Any) -> Any:
    """A value for JSON: numbers and truths as they are, bytes as text if they are, everything else as text."""
    match value:
        case None | bool():
            return value
        case int() if abs(value) < 2**53:
            return value
        case float() if math.isfinite(value):
            return value
        case bytes():
            try:
                text = value.decode()
            except UnicodeDecodeError:
                text = "\\x" + value.hex()
        case _:
            text = str(value)
    return text if len(text) <= CELL_CHARACTERS_MAX else f"{text[:CELL_CHARACTERS_MAX]}…"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES_MAX, ADDRESS_SPACE_BYTES_MAX))
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
