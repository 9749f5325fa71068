"""Runs a serving process from start to end: event loop, signals, the ready line, the lifeline.

    serve(body)    body(ready) runs until `stopped`; SIGTERM or SIGINT stops it, it drains, the process exits 0

Under a supervisor (`supervised`), stdout carries one JSON line when the process is ready, and stdin is a
lifeline: it closes when the supervisor dies, however it dies, and then the process drains and ends.
"""

import asyncio
import ctypes
import gc
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping

import uvloop

from lakestream.model.errors import LakestreamError

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -2, -3, -8
"""mallopt's names, from malloc.h."""
_HEAP_SPARE_BYTES_MAX = 256 * 1024 * 1024
"""Freed memory at the heap's end that is kept for the next buffers. More goes back to the system."""
_HEAP_STEP_BYTES = 16 * 1024 * 1024
_MAPPED_ALONE_BYTES_MIN = 32 * 1024 * 1024
"""The most that glibc accepts. Smaller buffers come from the heap, which reuses their pages."""
_GC_YOUNG_MAX = 50_000
"""New objects before the collector checks the youngest generation. Requests make many that die by themselves."""
_GC_TIDIED_MAX = 1_000
"""How often the young generation is tidied before a full collection, which takes some tens of milliseconds."""


class Crashed(LakestreamError):
    """The process cannot go on. Start it again."""


class Life:
    """The body's handle on its process: report readiness, and wait for the end."""

    def __init__(self, *, supervised: bool) -> None:
        self._supervised = supervised
        self._stop = asyncio.Event()
        self._crashed = False

    def ready(self, facts: Mapping[str, str]) -> None:
        # All objects that exist now live as long as the process: the collector need never check them again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_GC_YOUNG_MAX, 20, 50)
        if self._supervised:
            sys.stdout.write(json.dumps({"ready": True, **facts}) + "\n")
            sys.stdout.flush()

    def tidy(self) -> None:
        """Collect young garbage while nobody waits. Otherwise the collector runs when fifty thousand objects have
        gathered, and delays the current request by tens of milliseconds."""
        everything = gc.get_count()[2] >= _GC_TIDIED_MAX
        gc.collect(2 if everything else 1)

    async def stopped(self) -> None:
        """Returns when it is time to drain. Raises Crashed when the process cannot go on."""
        await self._stop.wait()
        if self._crashed:
            raise Crashed("a part of this process broke; its log says which")

    def stop(self) -> None:
        self._stop.set()

    def crash(self) -> None:
        self._crashed = True
        self._stop.set()


def serve(body: Callable[[Life], Awaitable[None]], *, supervised: bool) -> None:
    """Run `body` to its end."""
    _keep_memory_at_hand()
    uvloop.run(_live(body, supervised))


def _keep_memory_at_hand() -> None:
    """Use one heap for all threads, which keeps freed memory, if the C library is glibc.

    Buffers of megabytes pass from thread to thread. With a heap per thread, one thread cannot use the memory that
    another has freed: one run each under load peaked at 1009 MB and 330,000 page faults with many heaps, at 649 MB and
    190,000 with one. A buffer that is mapped separately, or cut off the heap when it is freed, costs a page fault for
    every 4 KiB of the next one: 79,000 for each gigabyte produced, against 2,000 when the heap keeps them."""
    if hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(_M_ARENA_MAX, 1)
        libc.mallopt(_M_MMAP_THRESHOLD, _MAPPED_ALONE_BYTES_MIN)
        libc.mallopt(_M_TRIM_THRESHOLD, _HEAP_SPARE_BYTES_MAX)
        libc.mallopt(_M_TOP_PAD, _HEAP_STEP_BYTES)


async def _live(body: Callable[[Life], Awaitable[None]], supervised: bool) -> None:
    life = Life(supervised=supervised)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, life.stop)
    # Ctrl-C reaches the supervisor as well, which stops its parts in its own time.
    loop.add_signal_handler(signal.SIGINT, _nothing if supervised else life.stop)
    if supervised:
        _hold_lifeline(loop, life)
    await body(life)


def _hold_lifeline(loop: asyncio.AbstractEventLoop, life: Life) -> None:
    lifeline = sys.stdin.fileno()
    os.set_blocking(lifeline, False)

    def pulled() -> None:
        if not os.read(lifeline, 1024):
            loop.remove_reader(lifeline)
            life.stop()

    loop.add_reader(lifeline, pulled)


def _nothing() -> None:
    pass
