"""Threads that are passed in: work that blocks or releases the GIL runs next to the event loop.

`InlineThreads` runs the work on the spot, which keeps a simulation deterministic.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Asked = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class Threads(Protocol):
    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T: ...

    def close(self) -> None: ...


class ThreadPool:
    """A limited number of threads, started when needed. With `workers=1`, work runs in the order of the calls.

    The standard library's executor does the same at twice the price: it keeps two futures and two locks for every piece
    of work, and its answer takes two turns of the loop."""

    def __init__(self, workers: int, name: str) -> None:
        self._workers = workers
        self._name = name
        self._asked: SimpleQueue[Asked | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._unanswered = 0
        """Only the event loop counts it."""
        self._closed = False

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns or raises the result of the work. Work that has begun runs to its end. If the caller stops waiting
        before that, it is not begun."""
        if self._closed:
            raise RuntimeError(f"the threads '{self._name}' are closed: nothing can be asked of them any more")
        # No frame that an error passes through may hold it. Otherwise the error would refer to itself, and live with
        # all arguments of the work until the collector runs.
        return await self._put(partial(work, *args, **kwargs))

    def _put(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        if len(self._threads) < min(self._unanswered + 1, self._workers):
            self._begin_thread()
        self._unanswered += 1
        self._asked.put((loop, answer, work))
        return answer

    def close(self) -> None:
        """Returns when all work is done that someone still waits for."""
        self._closed = True
        for _ in self._threads:
            self._asked.put(None)
        for thread in self._threads:
            thread.join()

    def _begin_thread(self) -> None:
        thread = Thread(target=self._work, name=f"{self._name}-{len(self._threads)}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            if self._threads:
                return  # the system has no more threads to give: the existing ones do the work
            raise
        self._threads.append(thread)

    def _work(self) -> None:
        while (asked := self._asked.get()) is not None:
            self._do(*asked)
            del asked  # otherwise its result would live until the next work comes

    def _do(self, loop: asyncio.AbstractEventLoop, answer: "asyncio.Future[Any]", work: Callable[[], Any]) -> None:
        try:
            result = None if answer.cancelled() else work()
        except BaseException as error:  # noqa: BLE001 - it is raised where the work was asked for
            self._tell(loop, answer, None, error)
        else:
            self._tell(loop, answer, result, None)
        del answer, work  # an error refers to this frame

    def _tell(
        self, loop: asyncio.AbstractEventLoop, answer: "asyncio.Future[Any]", result: Any, error: BaseException | None
    ) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(self._answer, answer, result, error)

    def _answer(self, answer: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
        self._unanswered -= 1
        if answer.done():
            return  # the caller stopped waiting
        if error is None:
            answer.set_result(result)
        elif isinstance(error, StopIteration):  # a future refuses it, since it would end the awaiting coroutine
            told = RuntimeError("the work raised StopIteration")
            told.__cause__ = error
            answer.set_exception(told)
        else:
            answer.set_exception(error)


class InlineThreads:
    """No threads at all: the work is done before `run` returns."""

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    def close(self) -> None:
        pass
