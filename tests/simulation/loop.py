"""An event loop on virtual time: when nothing is ready, the clock jumps to the next timer.

What is ready in one turn runs in an order that the seed decides, so a run is one of the many that could
happen, and the same one each time. There are no sockets and no threads, hence nothing to wait for but time.
"""

import asyncio
import heapq
import random
from typing import Any

TURNS_AT_ONE_MOMENT_MAX = 50_000
"""A run that turns this often while time stands still is busy for ever."""


class Stuck(Exception):
    """The simulated program can make no progress: nothing will ever wake it, or time will never move on."""


class _NoSockets:
    """Stands where a loop keeps its selector."""

    def select(self, timeout: float | None) -> list[Any]:
        return []


class VirtualLoop(asyncio.BaseEventLoop):
    def __init__(self, order: random.Random | None) -> None:
        """`order` shuffles what is ready; None keeps asyncio's own order, first come first served."""
        super().__init__()
        self._selector = _NoSockets()
        self._order = order
        self._now = 0.0
        self._turns = 0
        self._is_abandoned = False

    def time(self) -> float:
        return self._now

    def abandon(self) -> None:
        """Forget a stuck program without a word about each of its tasks."""
        self._is_abandoned = True
        for task in asyncio.all_tasks(self):
            task._log_destroy_pending = False

    def _check_closed(self) -> None:
        if not self._is_abandoned:  # its tasks still schedule things as they are collected
            super()._check_closed()

    def _run_once(self) -> None:
        self._drop_cancelled_timers()
        if not self._ready:
            self._jump()
        self._turns += 1
        if self._turns > TURNS_AT_ONE_MOMENT_MAX:
            raise Stuck(f"time stands still at {self._now:.6f} s: {list(self._ready)[:3]}")
        if self._order is not None and len(self._ready) > 1:
            ready = list(self._ready)
            self._order.shuffle(ready)
            self._ready.clear()
            self._ready.extend(ready)
        super()._run_once()

    def _jump(self) -> None:
        if not self._scheduled:
            raise Stuck("every task waits for another one")
        if self._scheduled[0]._when > self._now:
            self._now, self._turns = self._scheduled[0]._when, 0

    def _drop_cancelled_timers(self) -> None:
        while self._scheduled and self._scheduled[0]._cancelled:
            heapq.heappop(self._scheduled)._scheduled = False
            self._timer_cancelled_count = max(0, self._timer_cancelled_count - 1)

    def _process_events(self, event_list: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass
