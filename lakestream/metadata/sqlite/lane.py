"""Lane: a connection and the one thread that uses it."""

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from lakestream.model.errors import StoreUnavailable
from lakestream.world.threads import Threads

T = TypeVar("T")


class Lane:
    def __init__(self, connection: sqlite3.Connection, *, database: str, threads: Threads) -> None:
        self.connection = connection
        self.database = database
        self._threads = threads
        self._closed = False

    async def run(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise StoreUnavailable(f"the metadata store {self.database} was closed: open it again")
        return await self._threads.run(work)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._threads.run(self.connection.close)
            self._threads.close()
