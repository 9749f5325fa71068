"""The alarm over LISTEN and NOTIFY: brokers learn of each other's commits.

    our commit -> our own listeners at once, and one NOTIFY for those elsewhere
    a NOTIFY, a (re)connection, or a quiet second -> our listeners

The NOTIFY follows the commit in a transaction of its own. Inside the commit it would hold a lock of the whole database
until the commit is on disk, and commits would no longer share an fsync. A process that dies in between notifies nobody.
Therefore listeners are also woken once in a quiet second: an alarm may be late, by no more than that.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import psycopg
from psycopg import sql

from lakestream.metadata.postgres.pool import Connection, Pool
from lakestream.model.errors import LakestreamError
from lakestream.world.clock import Clock

QUIET_SECONDS_MAX = 1.0
_RECONNECT_SECONDS_FIRST = 0.1
_RECONNECT_SECONDS_MAX = 5.0


class Alarm:
    def __init__(self, pool: Pool, *, channel: str, own_name: str, clock: Clock) -> None:
        """`own_name` distinguishes our own notifications from those of others."""
        self._pool = pool
        self._channel = channel
        self._own_name = own_name
        self._clock = clock
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None
        self._more_to_tell = False

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        key = object()
        self._callbacks[key] = callback
        if self._listening is None:
            self._listening = asyncio.get_running_loop().create_task(self._listen(), name="postgres-alarm")
        return lambda: self._unsubscribe(key)

    def ring(self) -> None:
        """Wake listeners: this process has committed something."""
        self._call_back()
        self._more_to_tell = True
        if self._telling is None:
            self._telling = asyncio.get_running_loop().create_task(self._tell(), name="postgres-notify")

    async def close(self) -> None:
        self._callbacks.clear()
        if self._telling is not None:
            await asyncio.gather(self._telling, return_exceptions=True)
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)

    def _unsubscribe(self, key: object) -> None:
        self._callbacks.pop(key, None)
        if not self._callbacks and self._listening is not None:
            self._listening.cancel()
            self._listening = None

    async def _tell(self) -> None:
        """Notify other processes. Commits made while one notification is under way share the next one."""
        try:
            while self._more_to_tell:
                self._more_to_tell = False
                with suppress(psycopg.Error, LakestreamError):  # the wakeup of the quiet second makes up for it
                    async with self._pool.connection() as connection:
                        await connection.execute("SELECT pg_notify(%s, %s)", (self._channel, self._own_name))
        finally:
            self._telling = None

    async def _listen(self) -> None:
        pause_seconds = _RECONNECT_SECONDS_FIRST
        while True:
            with suppress(psycopg.Error):
                connection = await self._pool.connect()
                pause_seconds = _RECONNECT_SECONDS_FIRST
                async with connection:
                    await self._listen_on(connection)
            await self._clock.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, _RECONNECT_SECONDS_MAX)

    async def _listen_on(self, connection: Connection) -> None:
        """Listen until the connection breaks."""
        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
        self._call_back()  # changes from before we listened
        while True:
            quiet = True
            async for notification in connection.notifies(timeout=QUIET_SECONDS_MAX, stop_after=1):
                quiet = False
                if notification.payload != self._own_name:
                    self._call_back()
            if quiet:
                self._call_back()

    def _call_back(self) -> None:
        loop = asyncio.get_running_loop()
        for callback in self._callbacks.values():
            loop.call_soon(callback)  # each on its own, so that a failing listener harms no other
