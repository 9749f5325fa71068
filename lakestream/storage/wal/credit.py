"""PUT credit: a token bucket that lets an idle broker flush at once and holds a busy one to a rate.

A put costs money on a remote store. With credit left, a batch is flushed as soon as it arrives; with
none, batches gather until the segment is full or its oldest batch has lingered. Those flushes
spend credit too, so the rate is kept over time.
"""

_BURST_SECONDS = 0.25
_DEBT_MAX = 4.0
"""Forced flushes may overdraw, but only so far: a burst of full segments must not starve small ones for long."""


class PutCredit:
    def __init__(self, puts_per_second: float, now: float) -> None:
        self._rate = puts_per_second
        self._burst = max(1.0, puts_per_second * _BURST_SECONDS)
        self._tokens = self._burst
        self._counted_at = now

    def available_in(self, now: float) -> float:
        """Seconds until a put is allowed: 0 when one is allowed now."""
        self._count(now)
        return 0.0 if self._tokens >= 1.0 else (1.0 - self._tokens) / self._rate

    def spend(self, now: float) -> None:
        self._count(now)
        self._tokens = max(self._tokens - 1.0, -_DEBT_MAX)

    def _count(self, now: float) -> None:
        self._tokens = min(self._burst, self._tokens + (now - self._counted_at) * self._rate)
        self._counted_at = now
