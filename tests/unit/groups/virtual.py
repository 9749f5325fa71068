"""Time that is only counted: an event loop that jumps to the next timer, with a seeded order of what is ready."""

import asyncio
import random
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, seed: int) -> None:
        super().__init__(selectors.SelectSelector())
        self._now = 1_000.0
        self._chance = random.Random(seed)

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        ready = list(self._ready)  # type: ignore[attr-defined]
        self._chance.shuffle(ready)
        self._ready.clear()  # type: ignore[attr-defined]
        self._ready.extend(ready)  # type: ignore[attr-defined]
        if not ready and self._scheduled:  # type: ignore[attr-defined]
            self._now = max(self._now, self._scheduled[0]._when)  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


class VirtualClock:
    def wall_ms(self) -> int:
        return int(self.monotonic() * 1000)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run(work: Coroutine[Any, Any, T], seed: int = 0) -> T:
    """Whoever began a task also ends it: one that is left when the work is done is a failure."""
    loop = VirtualLoop(seed)
    try:
        done = loop.run_until_complete(work)
        left = [task.get_coro() for task in asyncio.all_tasks(loop)]
        assert not left, f"nobody has ended {left}"
        return done
    finally:
        loop.run_until_complete(_end(asyncio.all_tasks(loop)))
        loop.close()


async def _end(tasks: set["asyncio.Task[Any]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
