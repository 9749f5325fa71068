"""The budget of inline flushes: how large one may be, how many bytes a second, and how many at rest.

Bytes that lie inline pass through the metadata store twice, in and out. Above the budget a flush goes to an object.
The bytes at rest are those of the whole cluster when they were last counted, and this broker's own since then.
"""

from dataclasses import dataclass

from lakestream.world.clock import Clock

TOO_MANY_AT_REST = "at rest"
TOO_MANY_A_SECOND = "a second"


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineLimits:
    flush_bytes_max: int = 128 * 1024
    """A larger flush goes to an object. 0: every flush does."""
    bytes_per_second: int = 4 * 1024 * 1024
    """Inline bytes a second of one broker. A second's worth may come at once."""
    at_rest_bytes_max: int = 64 * 1024 * 1024
    """Inline bytes of the whole cluster that were not moved into objects yet. They stay while the object store is
    away."""
    move_seconds: float = 2.0
    """Inline bytes are moved into an object when the oldest of them have lain so long."""
    move_bytes: int = 8 * 1024 * 1024
    """... or when there are so many. Also the most that one object takes."""


class InlineBudget:
    def __init__(self, limits: InlineLimits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._left = float(limits.bytes_per_second)
        self._counted_at = clock.monotonic()
        self._at_rest = 0

    def fits(self, flush_bytes: int) -> bool:
        """Whether a flush of this size is small enough to be inline."""
        return 0 < flush_bytes <= self._limits.flush_bytes_max

    def refusal(self, flush_bytes: int) -> str | None:
        """Why a flush that fits cannot be inline now. None: it can."""
        if self._at_rest + flush_bytes > self._limits.at_rest_bytes_max:
            return TOO_MANY_AT_REST
        now, rate = self._clock.monotonic(), self._limits.bytes_per_second
        self._left = min(float(rate), self._left + (now - self._counted_at) * rate)
        self._counted_at = now
        return None if self._left >= flush_bytes else TOO_MANY_A_SECOND

    def spend(self, flush_bytes: int) -> None:
        self._left -= flush_bytes
        self._at_rest += flush_bytes

    def counted_at_rest(self, at_rest_bytes: int) -> None:
        self._at_rest = at_rest_bytes
