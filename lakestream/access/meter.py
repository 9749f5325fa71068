"""Meter: a budget that refills all the time. Spending more than it holds is a debt, which the spender waits out."""

BURST_SECONDS = 1.0
"""A budget holds as much as it gets in this time."""
SILENCE_SECONDS_MAX = 10.0
"""The longest wait that one request is told: clients give up on a request after some 30 seconds."""
DEBT_SECONDS_MAX = 60.0
"""What one huge request may cost the requests after it."""


class Meter:
    def __init__(self, per_second: float, now: float) -> None:
        self._per_second = per_second
        self._left = per_second * BURST_SECONDS
        self._counted_at = now

    def spend(self, amount: float, now: float) -> float:
        """How many seconds the spender shall be silent."""
        refilled = self._left + max(0.0, now - self._counted_at) * self._per_second
        left = min(refilled, self._per_second * BURST_SECONDS) - amount
        self._left = max(left, -self._per_second * DEBT_SECONDS_MAX)
        self._counted_at = now
        return min(max(0.0, -self._left / self._per_second), SILENCE_SECONDS_MAX)
