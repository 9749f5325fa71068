"""Decide whether a query only reads tables of the catalog: one SELECT, without functions that open files.

DuckDB parses the query itself and returns it as JSON; the guard looks for table functions and for names that are files.
The process that runs it is locked as well (worker.py): the guard's words come first, and are better.
"""

import json
from collections.abc import Iterator
from typing import Any

import duckdb

TABLE_FUNCTIONS = frozenset({"generate_series", "range", "unnest"})
"""Functions in FROM that open nothing."""


def refusal(query: str) -> str | None:
    """Why the query is not run; None if it may be."""
    if not query.strip():
        return "there is no query: try SHOW TABLES"
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        return str(error).strip()
    if len(statements) != 1:
        return f"the query has {len(statements)} statements: give one at a time"
    if statements[0].type != duckdb.StatementType.SELECT:
        return f"only queries that read are run here, not {statements[0].type.name}. `lakestream sql` runs others"
    return _refused_part(query)


def _refused_part(query: str) -> str | None:
    with duckdb.connect() as connection:
        [parsed] = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchone() or ["{}"]
    tree = json.loads(parsed)
    if tree.get("error"):
        return "only SELECT, SHOW and DESCRIBE are run here. `lakestream sql` runs others"
    for node in _nodes(tree):
        kind = node.get("type")
        if kind == "TABLE_FUNCTION":
            name = str((node.get("function") or {}).get("function_name", "")).lower()
            if name not in TABLE_FUNCTIONS:
                return f"the function {name or 'in FROM'} is not available here: name a table of the catalog"
        if kind == "BASE_TABLE" and "/" in str(node.get("table_name", "")):
            return "files are not read here: name a table of the catalog"
    return None


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of the tree."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
