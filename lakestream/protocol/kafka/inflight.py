"""InflightBytes: how many request bytes the server holds, and which connections wait for room.

The server counts the bytes of a frame that have arrived, and a first step of it in advance. The declared length alone
counts for nothing: a client that announces 90 MB and sends none of them takes no room from others. The bytes count
until the answer is on its way.

Above the bound, new frames wait in arrival order, and frames that are arriving stop where they are. Nothing goes on
before the held bytes have fallen to half: resuming at the brim would stop and start every socket for every request.
Frames that have begun go on before new ones enter.

Nobody waits forever. If frames that are still arriving hold all bytes, no answer will free any. Then the server
receives one frame, the oldest stopped one, to its end. The held bytes exceed the bound by that one frame at most.
"""

from collections import deque
from typing import Protocol


class RoomWaiter(Protocol):
    def bytes_admitted(self, count: int) -> None:
        """There is room for a new frame, and its first bytes have been counted."""

    def may_go_on(self) -> None:
        """The frame that was stopped may be received further."""


class InflightBytes:
    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._held = 0
        self._arriving = 0
        """Held bytes of incomplete frames."""
        self._entering: deque[tuple[RoomWaiter, int]] = deque()
        self._stopped: deque[RoomWaiter] = deque()
        self._ahead: RoomWaiter | None = None
        """The one waiter whose frame is received to its end although there is no room."""
        self._letting_in = False

    @property
    def held(self) -> int:
        return self._held

    @property
    def room(self) -> int:
        """Negative while one frame passes the bound."""
        return self._bytes_max - self._held

    @property
    def waiting(self) -> int:
        return len(self._entering) + len(self._stopped)

    @property
    def waits_for_clients(self) -> bool:
        """Whether a waiter waits for room that is held by frames still arriving."""
        return self.waiting > 0 and self._arriving * 2 > self._bytes_max

    def admit(self, count: int, waiter: RoomWaiter) -> bool:
        """Count the first bytes of a frame, or queue the waiter until `bytes_admitted` is called."""
        if self.waiting or not self._fits(count):
            self._entering.append((waiter, count))
            return False
        self._begin(count)
        return True

    def grow(self, count: int, waiter: RoomWaiter) -> bool:
        """Count bytes of a frame that have arrived. False: receive no more of it until `may_go_on` is called."""
        self._begin(count)
        if self._held <= self._bytes_max or self._ahead is waiter:
            return True
        self._stopped.append(waiter)
        self._choose_ahead()
        return self._ahead is waiter

    def arrived(self, count: int, waiter: RoomWaiter) -> None:
        """Report that frames of so many bytes are complete, or never will be."""
        self._arriving -= count
        if waiter in self._stopped:  # its last bytes were too many, and it needs no more
            self._stopped.remove(waiter)
        if self._ahead is waiter:
            self._ahead = None
            self._choose_ahead()

    def release(self, count: int) -> None:
        self._held -= count
        assert self._held >= self._arriving >= 0, "bytes were given back twice"
        self._let_in()
        self._choose_ahead()

    def forget(self, waiter: RoomWaiter) -> None:
        """Remove a waiter whose connection is gone, so that those behind it can pass."""
        self._entering = deque(entry for entry in self._entering if entry[0] is not waiter)
        self.arrived(0, waiter)
        self._let_in()
        self._choose_ahead()

    def _begin(self, count: int) -> None:
        self._held += count
        self._arriving += count

    def _fits(self, count: int) -> bool:
        return self._held == 0 or self._held + count <= self._bytes_max

    def _choose_ahead(self) -> None:
        if self._ahead is None and self._stopped and self._held == self._arriving:
            self._ahead = self._stopped.popleft()
            self._ahead.may_go_on()

    def _let_in(self) -> None:
        # A waiter that is let in may finish at once and release bytes, or ask for its next frame. That must not start a
        # second round inside this one.
        if self._held * 2 > self._bytes_max or self._letting_in:
            return
        self._letting_in = True
        try:
            while self._stopped and self._held <= self._bytes_max:
                self._stopped.popleft().may_go_on()
            while not self._stopped and self._entering and self._fits(self._entering[0][1]):
                waiter, count = self._entering.popleft()
                self._begin(count)
                waiter.bytes_admitted(count)
        finally:
            self._letting_in = False
