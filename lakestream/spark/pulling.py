"""Pulls the results of asynchronous work from a plain iterator, as Spark's workers want them.

The work goes on only while the consumer waits for its next result, and stays at most RESULTS_AHEAD results ahead.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
Push = Callable[[T], Awaitable[None]]

RESULTS_AHEAD = 2


def pulled(work: Callable[[Push[T]], Coroutine[Any, Any, None]]) -> Iterator[T]:
    """The results that `work` pushes. Raises what it raises."""
    with asyncio.Runner() as runner:
        results: asyncio.Queue[T] = asyncio.Queue(RESULTS_AHEAD)
        working = runner.get_loop().create_task(work(results.put))
        try:
            while not (working.done() and results.empty()):
                yield from runner.run(_next(results, working))
            working.result()
        finally:
            working.cancel()


async def _next(results: "asyncio.Queue[T]", working: "asyncio.Task[None]") -> list[T]:
    """The next result, or nothing if the work has ended."""
    getting = asyncio.ensure_future(results.get())
    await asyncio.wait([getting, working], return_when=asyncio.FIRST_COMPLETED)
    if not getting.done():
        getting.cancel()
        return [] if results.empty() else [results.get_nowait()]
    return [getting.result()]
