"""Background tasks with an owner: they end when their owner ends, and their failures are reported.

A bare asyncio task that fails in the background fails silently. A `Tasks` group holds its tasks, reports a failure to
`on_failure`, and cancels the remaining tasks when it is closed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
U = TypeVar("U")


async def both(one: Awaitable[T], other: Awaitable[U]) -> tuple[T, U]:
    """Await both in parallel, and both to their ends: if one fails, the other does not go on unnoticed."""
    first, second = await asyncio.gather(one, other, return_exceptions=True)
    if isinstance(first, BaseException):
        raise first
    if isinstance(second, BaseException):
        raise second
    return first, second


class Tasks:
    def __init__(self, on_failure: Callable[[str, BaseException], None]) -> None:
        self._on_failure = on_failure
        self._running: dict[asyncio.Task[Any], None] = {}  # in the order begun: a set's would differ from run to run

    def spawn(self, work: Coroutine[Any, Any, T], *, name: str, awaited: bool = False) -> "asyncio.Task[T]":
        """Begin `work`. With `awaited`, its failure is raised to those who await it, and is not reported."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running[task] = None
        task.add_done_callback(self._answered if awaited else self._finished)
        return task

    async def close(self) -> None:
        """Cancel the running tasks, and wait until they have ended."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _answered(self, task: "asyncio.Task[Any]") -> None:
        self._running.pop(task, None)
        if not task.cancelled():
            task.exception()  # retrieved, even if nobody awaits it any more

    def _finished(self, task: "asyncio.Task[Any]") -> None:
        self._running.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_failure(task.get_name(), error)
