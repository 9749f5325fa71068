"""One thread beside the event loop: in order, and whatever happens reaches who asked."""

import asyncio
import threading
import time

import pytest

from lakestream.world.threads import SingleThread


def test_work_runs_in_one_thread_in_the_order_in_which_it_was_asked_for() -> None:
    async def scenario() -> None:
        thread = SingleThread("one")
        done: list[int] = []
        names = await asyncio.gather(*(thread.run(lambda n=n: done.append(n) or _name()) for n in range(50)))  # type: ignore[func-returns-value, misc]
        assert done == list(range(50))
        assert set(names) == {"one"}
        thread.close()

    asyncio.run(scenario())


def _name() -> str:
    return threading.current_thread().name


def test_what_the_work_raises_is_raised_where_it_was_asked_for_and_the_thread_goes_on() -> None:
    async def scenario() -> None:
        thread = SingleThread("one")
        with pytest.raises(ZeroDivisionError):
            await thread.run(lambda: 1 // 0)
        assert await thread.run(lambda: 7) == 7
        thread.close()

    asyncio.run(scenario())


def test_a_caller_that_stops_waiting_stops_nobody_elses_work() -> None:
    async def scenario() -> None:
        thread, may_go_on = SingleThread("one"), threading.Event()
        first = asyncio.create_task(thread.run(may_go_on.wait))
        second = asyncio.create_task(thread.run(lambda: 2))
        await asyncio.sleep(0)
        first.cancel()
        may_go_on.set()
        assert await second == 2
        assert first.cancelled()
        thread.close()

    asyncio.run(scenario())


def test_closing_finishes_what_was_asked_for_also_when_nobody_is_left_to_be_told() -> None:
    done: list[int] = []
    thread = SingleThread("one")

    async def ask_and_go() -> None:
        asyncio.create_task(thread.run(lambda: time.sleep(0.05) or done.append(1)))  # type: ignore[func-returns-value]  # noqa: RUF006
        await asyncio.sleep(0)

    asyncio.run(ask_and_go())  # its loop is closed when the work ends
    thread.close()
    assert done == [1]
