"""Everything that happened in a run, one line each: its end explains a failure, its hash proves a replay."""

import hashlib
from collections import Counter, deque

TAIL_LINES = 400


class Trace:
    def __init__(self, *, keep_all: bool = False) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._tail: deque[str] = deque(maxlen=None if keep_all else TAIL_LINES)
        self.events: Counter[str] = Counter()
        self.now = lambda: 0.0

    def note(self, event: str, *details: object) -> None:
        line = " ".join((f"{self.now():11.6f}", event, *map(str, details)))
        self.events[event] += 1
        self._hash.update(line.encode())
        self._tail.append(line)

    def digest(self) -> str:
        return self._hash.hexdigest()

    def tail(self) -> list[str]:
        return list(self._tail)
