"""Engines that query a table again and again while it grows, each in turn, in a thread of its own."""

import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

Rows = list[dict[str, Any]]

_SECONDS_MAX = 120


class Watching:
    def __init__(self, queries: Mapping[str, Callable[[], Rows]]) -> None:
        self._queries = queries
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._failures: list[BaseException] = []
        self.answers: dict[str, list[Rows]] = {engine: [] for engine in queries}

    def __enter__(self) -> "Watching":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Every engine has been asked at least once."""
        self._stop.set()
        self._thread.join(_SECONDS_MAX)
        assert not self._thread.is_alive(), "an engine does not answer"
        if self._failures and error is None:
            raise self._failures[0]

    def _watch(self) -> None:
        try:
            while not self._stop.is_set() or not all(self.answers.values()):
                for engine, query in self._queries.items():
                    self.answers[engine].append(query())
        except BaseException as failure:  # told by the thread that waits for it
            self._failures.append(failure)
