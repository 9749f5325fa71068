"""The alarm: call listeners when something may have changed, and notice commits of other processes.

Our own commits ring at once. While anyone listens, the alarm asks SQLite every few milliseconds whether another process
has changed the file (PRAGMA data_version: a look at shared memory, some microseconds).
"""

import asyncio
import sqlite3
from collections.abc import Callable

from lakestream.world.clock import Clock

POLL_SECONDS = 0.01


class Alarm:
    def __init__(self, watching: sqlite3.Connection | None, *, clock: Clock) -> None:
        """`watching` is used on the event loop alone. None if no other process can write."""
        self._watching = watching
        self._clock = clock
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._polling: asyncio.Task[None] | None = None
        self._version = -1

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        key = object()
        self._callbacks[key] = callback
        if self._watching is not None and self._polling is None:
            self._changed_elsewhere()  # from here on
            self._polling = asyncio.get_running_loop().create_task(self._poll(), name="sqlite-alarm")
        return lambda: self._unsubscribe(key)

    def ring(self) -> None:
        """Something of ours was committed. Checking the version first saves a second alarm for the same commit."""
        if self._callbacks:
            self._changed_elsewhere()
            self._call_back()

    async def close(self) -> None:
        self._callbacks.clear()
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.gather(self._polling, return_exceptions=True)
            self._polling = None
        if self._watching is not None:
            self._watching.close()

    def _unsubscribe(self, key: object) -> None:
        self._callbacks.pop(key, None)
        if not self._callbacks and self._polling is not None:
            self._polling.cancel()
            self._polling = None

    async def _poll(self) -> None:
        while True:
            await self._clock.sleep(POLL_SECONDS)
            if self._changed_elsewhere():
                self._call_back()

    def _changed_elsewhere(self) -> bool:
        if self._watching is None:
            return False
        before = self._version
        try:
            (self._version,) = self._watching.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            return True  # unknown: ring, and the listener that looks gets the error
        return self._version != before

    def _call_back(self) -> None:
        loop = asyncio.get_running_loop()
        for callback in self._callbacks.values():
            loop.call_soon(callback)  # on its own, so that a failing listener harms neither the poll nor the writer
