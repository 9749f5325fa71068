"""Threads, as something passed in: work that blocks or releases the GIL runs beside the event loop.

`InlineThreads` runs the work on the spot, which is how a simulation stays deterministic.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Threads(Protocol):
    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T: ...

    def close(self) -> None: ...


class ThreadPool:
    """A bounded pool. With `workers=1`, work runs in the order in which it was asked for."""

    def __init__(self, workers: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(max_workers=workers, thread_name_prefix=name)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: work(*args, **kwargs))

    def close(self) -> None:
        self._executor.shutdown(wait=True, cancel_futures=False)


class SingleThread:
    """One thread; work runs in the order in which it was asked for. A pool of one worker does the same at twice the
    price: it keeps two futures and two locks for every piece of work, and its answer takes two turns of the loop."""

    def __init__(self, name: str) -> None:
        self._asked: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def do() -> None:
            try:
                result = work(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - it is raised where the work was asked for
                _tell(loop, _fail, answer, error)
            else:
                _tell(loop, _fill, answer, result)

        self._asked.put(do)
        return await answer

    def close(self) -> None:
        self._asked.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (do := self._asked.get()) is not None:
            do()
            del do  # or what it returned would live on until the next work comes


def _tell(loop: asyncio.AbstractEventLoop, how: Callable[..., None], answer: "asyncio.Future[Any]", what: Any) -> None:
    with suppress(RuntimeError):  # the loop was closed: nobody waits any more
        loop.call_soon_threadsafe(how, answer, what)


def _fill(answer: "asyncio.Future[Any]", result: Any) -> None:
    if not answer.done():  # done: whoever asked stopped waiting
        answer.set_result(result)


def _fail(answer: "asyncio.Future[Any]", error: BaseException) -> None:
    if not answer.done():
        answer.set_exception(error)


class InlineThreads:
    """No threads at all: the work is done before `run` returns."""

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    def close(self) -> None:
        pass
