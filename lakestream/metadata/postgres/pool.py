"""A pool of a few connections: each verb borrows one. The pool opens them on demand and discards them when in doubt."""

import asyncio
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from lakestream.model.errors import StoreUnavailable

Connection = psycopg.AsyncConnection[tuple[Any, ...]]

CONNECTIONS_MAX = 8
"""Four uploads in flight commit in parallel, and reads run at the same time."""

_WAIT_SECONDS_MAX = 10.0


class Pool:
    def __init__(self, conninfo: str, *, shown_url: str) -> None:
        self._conninfo = conninfo
        self._shown_url = shown_url
        self._places = asyncio.Semaphore(CONNECTIONS_MAX)
        self._idle: list[Connection] = []
        self._closed = False

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection in autocommit mode, for this block alone. Raises StoreUnavailable if all stay busy."""
        await self._take_place()
        try:
            connection = await self._living_idle() or await self.connect()
            try:
                yield connection
            finally:
                await self._put_back(connection)
        finally:
            self._places.release()

    async def connect(self) -> Connection:
        """A connection outside the pool, for long use."""
        return await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True, prepare_threshold=1)

    async def close(self) -> None:
        self._closed = True
        await self._close_idle()

    async def _take_place(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"the metadata store {self._shown_url} was closed: open it again")
        try:
            async with asyncio.timeout(_WAIT_SECONDS_MAX):
                await self._places.acquire()
        except TimeoutError:
            raise StoreUnavailable(
                f"all {CONNECTIONS_MAX} connections to {self._shown_url} were busy for {_WAIT_SECONDS_MAX:g} s: "
                "try again; if it stays so, look at what PostgreSQL is doing (pg_stat_activity)"
            ) from None

    async def _living_idle(self) -> Connection | None:
        """An idle connection that still works. A server that sent something unasked has nearly always closed:
        restarted, failed over, cut."""
        while self._idle:
            connection = self._idle.pop()
            if not _has_spoken(connection):
                return connection
            await connection.close()
        return None

    async def _put_back(self, connection: Connection) -> None:
        if connection.broken:
            await self._close_idle()  # the others lead to the same server, which is likely gone
        if connection.closed or self._closed or connection.info.transaction_status is not TransactionStatus.IDLE:
            await connection.close()
        else:
            self._idle.append(connection)

    async def _close_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()


def _has_spoken(connection: Connection) -> bool:
    socket = select.poll()
    socket.register(connection.fileno(), select.POLLIN)
    return bool(socket.poll(0))
