"""schema.sql, which people read, and the migrations, which run, say the same in both databases."""

import asyncio
import sqlite3
from importlib.resources import files

import psycopg
import pytest

from lakestream.metadata.migrating import Dialect, migrations_of
from lakestream.model.errors import MetadataTooNew
from tests.behaviour.metadata.stage import Stage, postgres_url

SCHEMA = (files("lakestream.metadata") / "schema.sql").read_text()

Tables = dict[str, tuple[object, ...]]


def sqlite_tables(connection: sqlite3.Connection) -> Tables:
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {name: (*sqlite_columns(connection, name), *sqlite_indexes(connection, name)) for name in names}


def sqlite_columns(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    rows = connection.execute('SELECT name, "notnull", pk FROM pragma_table_info(?) ORDER BY cid', (table,))
    return rows.fetchall()


def sqlite_indexes(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    """Each index by its columns, uniqueness and condition; the primary key is told by the columns."""
    found = []
    for name, unique, origin in connection.execute(
        'SELECT name, "unique", origin FROM pragma_index_list(?)', (table,)
    ).fetchall():
        columns = [row[0] for row in connection.execute("SELECT name FROM pragma_index_info(?)", (name,))]
        (sql,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone() or ("",)
        if origin != "pk":
            found.append((tuple(columns), unique, sql))
    return sorted(found)


def test_on_sqlite_the_migrations_build_what_the_schema_says() -> None:
    said, built = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
    said.executescript(SCHEMA)
    said.execute("DROP TABLE migration")  # made by the one who applies migrations, before the first of them
    for migration in migrations_of(Dialect.SQLITE):
        for script in migration.scripts:
            built.executescript(script)
    assert sqlite_tables(built) == sqlite_tables(said)
    assert len(sqlite_tables(built)) > 5


POSTGRES_COLUMNS = """
    SELECT table_name, column_name, is_nullable, CASE WHEN column_name = 'recent' THEN '' ELSE data_type END
    FROM information_schema.columns WHERE table_schema = %s ORDER BY table_name, ordinal_position
"""
POSTGRES_INDEXES = "SELECT replace(indexdef, %s || '.', '') FROM pg_indexes WHERE schemaname = %s ORDER BY 1"


def test_on_postgres_the_migrations_build_what_the_schema_says(postgres: str) -> None:
    url = postgres_url(postgres)
    stage = Stage(url)
    stage.runner.run(stage.open())
    stage.close()
    built_schema = url.split("?schema=")[1]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA as_said")
        connection.execute("SET search_path TO as_said")
        connection.execute(SCHEMA.encode())

        def columns(schema: str) -> list[tuple[object, ...]]:
            return connection.execute(POSTGRES_COLUMNS, (schema,)).fetchall()

        def indexes(schema: str) -> list[tuple[object, ...]]:
            return connection.execute(POSTGRES_INDEXES, (schema, schema)).fetchall()

        assert columns(built_schema) == columns("as_said")
        assert len(columns("as_said")) > 40
        assert indexes(built_schema) == indexes("as_said")


def test_every_table_has_a_comment_before_it() -> None:
    blocks = SCHEMA.split("\n\n")
    tables = [block for block in blocks if "CREATE TABLE" in block]
    assert len(tables) > 5
    for block in tables:
        assert block.startswith("-- "), block
        assert "Written" in block, block


def test_a_postgres_store_of_a_newer_version_is_refused(postgres: str) -> None:
    url = postgres_url(postgres)
    stage = Stage(url)
    stage.runner.run(stage.open())
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"INSERT INTO {url.split('?schema=')[1]}.migration VALUES (9999, 0)".encode())
    with pytest.raises(MetadataTooNew, match="9999"):
        stage.runner.run(stage.open())
    stage.close()


def test_postgres_stores_that_open_at_once_all_migrate_safely(postgres: str) -> None:
    stage = Stage(postgres_url(postgres))

    async def open_together() -> set[str]:
        stores = await asyncio.gather(*(stage.open() for _ in range(5)))
        return {await store.cluster_id() for store in stores}

    assert len(stage.runner.run(open_together())) == 1
    stage.close()
