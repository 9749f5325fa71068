"""Threads beside the event loop: as many as are needed, and whatever happens reaches who asked."""

import asyncio
import gc
import threading
import time
import weakref
from contextlib import suppress

import pytest

from lakestream.world.threads import ThreadPool


def test_work_runs_in_one_thread_in_the_order_in_which_it_was_asked_for() -> None:
    async def scenario() -> None:
        thread = ThreadPool(1, "one")
        done: list[int] = []
        names = await asyncio.gather(*(thread.run(lambda n=n: done.append(n) or _name()) for n in range(50)))  # type: ignore[func-returns-value, misc]
        assert done == list(range(50))
        assert set(names) == {"one-0"}
        thread.close()

    asyncio.run(scenario())


def _name() -> str:
    return threading.current_thread().name


def test_what_the_work_raises_is_raised_where_it_was_asked_for_and_the_thread_goes_on() -> None:
    async def scenario() -> None:
        thread = ThreadPool(1, "one")
        with pytest.raises(ZeroDivisionError):
            await thread.run(lambda: 1 // 0)
        assert await thread.run(lambda: 7) == 7
        thread.close()

    asyncio.run(scenario())


def test_work_that_raises_stop_iteration_is_answered_too() -> None:
    async def scenario() -> None:
        thread = ThreadPool(1, "one")
        with pytest.raises(RuntimeError, match="StopIteration"):
            await asyncio.wait_for(thread.run(next, iter(())), 30)
        thread.close()

    asyncio.run(scenario())


def test_what_failing_work_was_given_is_let_go_without_the_garbage_collector() -> None:
    class Buffer:
        """Stands for the megabytes of an upload."""

    def fail(buffer: Buffer) -> None:
        raise OSError("no room")

    async def scenario() -> None:
        thread, buffer = ThreadPool(1, "one"), Buffer()
        kept = weakref.ref(buffer)
        with suppress(OSError):
            await thread.run(fail, buffer)
        del buffer
        await thread.run(_name)  # by now the thread has let go of the work before
        assert kept() is None
        thread.close()

    gc.disable()
    try:
        asyncio.run(scenario())
    finally:
        gc.enable()


def test_where_the_system_has_no_more_threads_those_that_are_there_do_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def scenario() -> None:
        pool = ThreadPool(4, "few")
        await pool.run(_name)
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            assert set(await asyncio.gather(*(pool.run(_name) for _ in range(10)))) == {"few-0"}
            with pytest.raises(RuntimeError, match="can't start"):
                await ThreadPool(4, "none").run(_name)
        pool.close()

    asyncio.run(scenario())


def test_a_caller_that_stops_waiting_stops_nobody_elses_work() -> None:
    async def scenario() -> None:
        thread, may_go_on = ThreadPool(1, "one"), threading.Event()
        first = asyncio.create_task(thread.run(may_go_on.wait))
        second = asyncio.create_task(thread.run(lambda: 2))
        await asyncio.sleep(0)
        first.cancel()
        may_go_on.set()
        assert await second == 2
        assert first.cancelled()
        thread.close()

    asyncio.run(scenario())


def test_work_that_nobody_waits_for_is_not_begun() -> None:
    async def scenario() -> None:
        thread, may_go_on, begun = ThreadPool(1, "one"), threading.Event(), []
        first = asyncio.create_task(thread.run(may_go_on.wait))
        second = asyncio.create_task(thread.run(lambda: begun.append(2)))
        await asyncio.sleep(0)
        second.cancel()
        may_go_on.set()
        assert await first
        assert await thread.run(lambda: 3) == 3
        assert begun == []
        thread.close()

    asyncio.run(scenario())


def test_closing_finishes_what_has_begun_also_when_nobody_is_left_to_be_told() -> None:
    done: list[int] = []
    thread, begun = ThreadPool(1, "one"), threading.Event()

    async def ask_and_go() -> None:
        asyncio.create_task(thread.run(lambda: begun.set() or time.sleep(0.05) or done.append(1)))  # type: ignore[func-returns-value]  # noqa: RUF006
        while not begun.is_set():
            await asyncio.sleep(0.001)

    asyncio.run(ask_and_go())  # its loop is closed when the work ends
    thread.close()
    assert done == [1]


def test_there_are_as_many_threads_as_were_needed_at_once() -> None:
    async def scenario() -> None:
        pool = ThreadPool(4, "few")
        assert {await pool.run(_name) for _ in range(10)} == {"few-0"}
        meeting = threading.Barrier(3)
        names = await asyncio.gather(*(pool.run(lambda: (meeting.wait(30), _name())[1]) for _ in range(3)))
        assert set(names) == {"few-0", "few-1", "few-2"}
        names = await asyncio.gather(*(pool.run(lambda: time.sleep(0.001) or _name()) for _ in range(40)))  # type: ignore[func-returns-value]
        assert set(names) <= {f"few-{number}" for number in range(4)}
        pool.close()

    asyncio.run(scenario())


def test_work_that_was_given_up_and_never_ends_keeps_nobody_else_waiting() -> None:
    async def scenario() -> None:
        pool, may_go_on, begun = ThreadPool(2, "few"), threading.Event(), threading.Event()
        stuck = asyncio.create_task(pool.run(lambda: begun.set() or may_go_on.wait()))  # type: ignore[func-returns-value]
        while not begun.is_set():
            await asyncio.sleep(0.001)
        stuck.cancel()
        await asyncio.sleep(0)
        assert await asyncio.wait_for(pool.run(lambda: 2), 30) == 2
        may_go_on.set()
        pool.close()

    asyncio.run(scenario())


def test_closed_threads_refuse_work_instead_of_forgetting_it() -> None:
    async def scenario() -> None:
        pool = ThreadPool(2, "few")
        await pool.run(_name)
        pool.close()
        with pytest.raises(RuntimeError, match="'few' are closed"):
            await pool.run(_name)

    asyncio.run(scenario())
