"""Migrate a file to this version's tables, in one transaction. Processes may open the store at the same time."""

import sqlite3
from collections.abc import Iterator

from lakestream.metadata.migrating import Dialect, migrations_of, pending

_FIRST_PRODUCER_ID = 1
_FIRST_PARTITION_ID = 1


def migrate(connection: sqlite3.Connection, url: str, cluster_id: str, now_ms: int) -> None:
    """`cluster_id` is used if the store has none yet. Raises MetadataTooNew."""
    connection.execute("BEGIN IMMEDIATE")  # other processes wait here, then find everything done
    try:
        _apply_pending(connection, url, now_ms)
        connection.execute(
            "INSERT OR IGNORE INTO cluster VALUES (1, ?, 0, ?, ?)",
            (cluster_id, _FIRST_PARTITION_ID, _FIRST_PRODUCER_ID),
        )
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _apply_pending(connection: sqlite3.Connection, url: str, now_ms: int) -> None:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migration (number INTEGER NOT NULL PRIMARY KEY, applied_ms INTEGER NOT NULL)"
    )
    (applied_until,) = connection.execute("SELECT coalesce(max(number), 0) FROM migration").fetchone()
    for migration in pending(migrations_of(Dialect.SQLITE), applied_until, url):
        for script in migration.scripts:
            for statement in _statements(script):
                connection.execute(statement)
        connection.execute("INSERT INTO migration VALUES (?, ?)", (migration.number, now_ms))


def _statements(script: str) -> Iterator[str]:
    """One by one, because sqlite3's executescript would commit our transaction first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
