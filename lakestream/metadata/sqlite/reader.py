"""Reader: runs short reads, each on one snapshot, in a lane of their own, so that they never wait for the writer."""

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from lakestream.metadata.sqlite.connection import plain_errors
from lakestream.metadata.sqlite.lane import Lane

T = TypeVar("T")


class Reader:
    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    async def run(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """The query's answer. All its statements see the same moment."""
        return await self._lane.run(lambda: self._read(query))

    def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._lane.connection
        with plain_errors(self._lane.database):
            connection.execute("BEGIN")
            try:
                return query(connection)
            finally:
                connection.execute("ROLLBACK")
