"""RateLimitedLog: log lines that strangers can cause, a few a minute for each address and reason.

    log = RateLimitedLog(structlog.get_logger("lakestream.kafka"), now=loop.time)
    log.info("closing a connection", client="10.0.0.7", kind="Produce", reason="ends too early")

The first lines of a minute are written as they are. The others are counted, and one line tells the count when the
minute is over. A caller that may fall silent calls `tell_counts` from time to time. `kind` is a reason from a small
set: text that a client can choose would give each line a limit of its own. Above a number of addresses and reasons, all
further ones of the minute share one limit.
"""

from collections.abc import Callable
from typing import Any

from structlog.typing import FilteringBoundLogger

LINES_MAX = 5
"""A minute, for each address and reason."""

MINUTE_S = 60.0

KEYS_MAX = 256
"""Addresses and reasons that are told apart in a minute."""

MANY = "many addresses"

_Key = tuple[str, str, str, str]  # level, event, client, kind


class RateLimitedLog:
    def __init__(self, log: FilteringBoundLogger, *, now: Callable[[], float]) -> None:
        """`now`: monotonic seconds. It is first called for the first line."""
        self._log = log
        self._now = now
        self._began_at = -MINUTE_S
        self._counts: dict[_Key, int] = {}

    def info(self, event: str, *, client: str, kind: str = "", **facts: Any) -> None:
        self._write(("info", event, client, kind), facts)

    def warning(self, event: str, *, client: str, kind: str = "", **facts: Any) -> None:
        self._write(("warning", event, client, kind), facts)

    def error(self, event: str, *, client: str, kind: str = "", **facts: Any) -> None:
        self._write(("error", event, client, kind), facts)

    def tell_counts(self) -> None:
        """If the minute is over: say how many lines it left out, and begin the next one."""
        now = self._now()
        if now - self._began_at < MINUTE_S:
            return
        counts, self._counts, self._began_at = self._counts, {}, now
        for (level, event, client, kind), count in counts.items():
            if count > LINES_MAX:
                left_out = {"client": client, "lines_left_out": count - LINES_MAX} | ({"kind": kind} if kind else {})
                getattr(self._log, level)(event, **left_out)

    def _write(self, key: _Key, facts: dict[str, Any]) -> None:
        self.tell_counts()
        level, event, client, kind = key
        if key not in self._counts and len(self._counts) >= KEYS_MAX:
            key = (level, event, MANY, "")
        count = self._counts[key] = self._counts.get(key, 0) + 1
        if count <= LINES_MAX:
            getattr(self._log, level)(event, client=client, **({"kind": kind} if kind else {}), **facts)
