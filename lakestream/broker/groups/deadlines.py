"""Deadlines by key, built to be moved often: every heartbeat moves one.

Postponing a deadline only changes a number; the queue corrects itself when the old entry comes up. So a group of
thousands pays nothing per heartbeat, and the queue holds at most one entry per key and one per time a deadline was
brought forward.
"""

import heapq
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Deadlines(Generic[K]):
    def __init__(self) -> None:
        self._at: dict[K, int] = {}
        self._queue: list[tuple[int, int, K]] = []
        self._queued: dict[K, int] = {}
        self._order = 0

    def set(self, key: K, at_ms: int) -> None:
        self._at[key] = at_ms
        if self._queued.get(key, at_ms + 1) > at_ms:
            self._push(key, at_ms)

    def set_if_absent(self, key: K, at_ms: int) -> None:
        if key not in self._at:
            self.set(key, at_ms)

    def cancel(self, key: K) -> None:
        self._at.pop(key, None)

    def clear(self) -> None:
        self._at.clear()
        self._queue.clear()
        self._queued.clear()

    def next(self) -> int | None:
        """The earliest deadline."""
        while self._queue:
            at_ms, _, key = self._queue[0]
            if self._at.get(key) == at_ms:
                return at_ms
            self._correct()
        return None

    def take_due(self, now_ms: int) -> list[K]:
        """Remove and return the keys whose deadline has come, in order."""
        due: list[K] = []
        while (at_ms := self.next()) is not None and at_ms <= now_ms:
            _, _, key = heapq.heappop(self._queue)
            self._queued.pop(key, None)
            del self._at[key]
            due.append(key)
        return due

    def __contains__(self, key: K) -> bool:
        return key in self._at

    def __len__(self) -> int:
        return len(self._at)

    def _push(self, key: K, at_ms: int) -> None:
        self._order += 1  # keys need not be comparable
        heapq.heappush(self._queue, (at_ms, self._order, key))
        self._queued[key] = at_ms

    def _correct(self) -> None:
        """Drop the first entry, whose deadline was cancelled or moved."""
        at_ms, _, key = heapq.heappop(self._queue)
        if self._queued.get(key) != at_ms:
            return  # an earlier entry stands for this key
        del self._queued[key]
        if key in self._at:
            self._push(key, self._at[key])
