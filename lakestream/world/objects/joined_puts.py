"""Small puts that were foreseen and come together are made by one thread together (durable_files.py).

    put a -> waits one turn of the event loop -> put b, put c have come -> one more turn, no others -> one thread

The four files of a commit are asked for within a few turns, by tasks that know nothing of each other. A put that nobody
foresaw does not come here: a broker's loop is busy, and its produce requests should not wait for a turn of it.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from lakestream.world.objects.store import Buffer
from lakestream.world.threads import Threads


class JoinedPut(NamedTuple):
    key: str
    path: Path
    parts: Sequence[Buffer]
    spare: int
    """The unnamed file that was opened for it."""


Create = Callable[[Sequence[JoinedPut]], Sequence[Exception | None]]
"""What went wrong with each of them, in their order."""


class JoinedPuts:
    """Used on the event loop alone."""

    def __init__(self, create: Create, threads: Threads) -> None:
        self._create = create
        self._threads = threads
        self._waiting: list[tuple[JoinedPut, asyncio.Future[None]]] = []
        self._working: dict[asyncio.Task[None], None] = {}

    def put(self, put: JoinedPut) -> "asyncio.Future[None]":
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.append((put, done))
        if len(self._waiting) == 1:
            task = loop.create_task(self._work(), name="joined-puts")
            self._working[task] = None
            task.add_done_callback(self._working.pop)
        return done

    async def _work(self) -> None:
        before = 0
        while before < len(self._waiting):
            before = len(self._waiting)
            await asyncio.sleep(0)
        joined, self._waiting = self._waiting, []
        for (_, done), error in zip(joined, await self._created([put for put, _ in joined]), strict=True):
            if done.done():
                continue  # whoever asked stopped waiting
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

    async def _created(self, puts: Sequence[JoinedPut]) -> Sequence[Exception | None]:
        try:
            return await self._threads.run(self._create, puts)
        except Exception as failed:  # noqa: BLE001 - no thread could do it: it is raised where each put was asked for
            return [failed] * len(puts)
