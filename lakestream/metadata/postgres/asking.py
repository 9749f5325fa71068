"""Fetch one row, or all rows, of a query."""

from collections.abc import Sequence
from typing import Any, LiteralString

from lakestream.metadata.postgres.pool import Connection

Row = tuple[Any, ...]


async def all_rows(connection: Connection, query: LiteralString, parameters: Sequence[object] = ()) -> list[Row]:
    return await (await connection.execute(query, parameters)).fetchall()


async def maybe_row(connection: Connection, query: LiteralString, parameters: Sequence[object] = ()) -> Row | None:
    return await (await connection.execute(query, parameters)).fetchone()


async def one_row(connection: Connection, query: LiteralString, parameters: Sequence[object] = ()) -> Row:
    row = await maybe_row(connection, query, parameters)
    assert row is not None, f"there is always a row for: {query}"
    return row
