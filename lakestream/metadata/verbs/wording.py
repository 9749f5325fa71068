"""Translate one SQL text into the two dialects.

Verbs are written in PostgreSQL's dialect, with named parameters (`:name`) and lists as parameters. SQLite follows
PostgreSQL closely; the table below replaces the constructs it lacks. A statement that differs by more has two texts.
"""

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One statement in two texts."""

    postgres: str
    sqlite: str | None
    """None: SQLite does not need the statement."""


Sql = str | Wording

_IN_SQLITE = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        # The driver binds the time at which the verb began. A function would need the GIL for every call.
        (r"\bnow_ms\(\)", ":now_ms"),
        # One transaction writes at a time, so there are no rows to lock.
        (r" FOR (?:NO )?(?:KEY )?(?:UPDATE|SHARE)\b", ""),
        # SQLite compares texts by their bytes by default.
        (r' COLLATE "C"', ""),
        # The driver binds lists as JSON.
        (r"= ANY \(:(\w+)\)", r"IN (SELECT value FROM json_each(:\1))"),
        (r"\bunnest\(:(\w+)::\w+\[\]\) AS (\w+) \((\w+)\)", r"(SELECT value AS \3 FROM json_each(:\1)) AS \2"),
        (r"\barray_to_json\(ARRAY\((SELECT (\w+) [^()]+)\)\)", r"(SELECT json_group_array(\2) FROM (\1))"),
        (r"\bgreatest\(", "max("),
        (r"\bstarts_with\(([\w.]+), :(\w+)\)", r"substr(\1, 1, length(:\2)) = :\2"),
        # Casts settle the types of parameters and of sums, which SQLite does not distinguish.
        (r"::\w+(?:\[\])?", ""),
    )
)

_PARAMETER = re.compile(r"(?<!:):([a-z]\w*)")


@cache
def for_sqlite(sql: Sql) -> str | None:
    text = sql.sqlite if isinstance(sql, Wording) else sql
    if text is None:
        return None
    for pattern, words in _IN_SQLITE:
        text = pattern.sub(words, text)
    return text


@cache
def for_postgres(sql: Sql) -> bytes:
    """The text as bytes, which psycopg accepts from a program that built it."""
    text = sql.postgres if isinstance(sql, Wording) else sql
    return _PARAMETER.sub(r"%(\1)s", text).encode()
