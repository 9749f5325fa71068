"""InflightBytes: how many request bytes the server holds, and who waits for room.

A frame is counted from the moment its length is read until its answer is on its way. Once the bound is reached, frames
wait in arrival order, and none is let in before the held bytes have fallen to half: resuming at the brim would stop and
start every socket for every request.

Nobody waits forever. A frame that was let in is received to its end without asking again, so whatever is held will be
answered and given back; a frame longer than the whole bound is let in alone, when nothing else is held; and those that
come later queue behind it, so its turn comes.
"""

from collections import deque
from typing import Protocol


class Waiter(Protocol):
    def bytes_admitted(self, count: int) -> None:
        """There is room, and it has been counted."""


class InflightBytes:
    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._held = 0
        self._queue: deque[tuple[Waiter, int]] = deque()
        self._letting_in = False

    @property
    def held(self) -> int:
        return self._held

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def admit(self, count: int, waiter: Waiter) -> bool:
        """Count the bytes, or put the waiter in the queue: it is called back with `bytes_admitted`."""
        if self._queue or not self._fits(count):
            self._queue.append((waiter, count))
            return False
        self._held += count
        return True

    def release(self, count: int) -> None:
        self._held -= count
        assert self._held >= 0, "bytes were given back twice"
        if self._held * 2 <= self._bytes_max and not self._letting_in:
            self._let_in()

    def forget(self, waiter: Waiter) -> None:
        """It is gone: let those behind it pass."""
        self._queue = deque(entry for entry in self._queue if entry[0] is not waiter)
        if self._held * 2 <= self._bytes_max and not self._letting_in:
            self._let_in()

    def _fits(self, count: int) -> bool:
        return self._held == 0 or self._held + count <= self._bytes_max

    def _let_in(self) -> None:
        # One who is let in may at once finish and give back, or ask for its next frame: that must not start a second
        # round inside this one.
        self._letting_in = True
        try:
            while self._queue and self._fits(self._queue[0][1]):
                waiter, count = self._queue.popleft()
                self._held += count
                waiter.bytes_admitted(count)
        finally:
            self._letting_in = False
