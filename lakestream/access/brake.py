"""LoginBrake: make an address that fails to log in wait, longer with each failure."""

from lakestream.world.clock import Clock

FIRST_DELAY_S = 0.1
DELAY_S_MAX = 5.0
FORGOTTEN_AFTER_S = 60.0
ADDRESSES_MAX = 10_000
"""Addresses whose failures are remembered. Beyond that, the oldest are forgotten."""


class LoginBrake:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[int, float]] = {}

    async def failed(self, host: str) -> None:
        """Returns after the delay that this failure costs."""
        now = self._clock.monotonic()
        count, last = self._failures.pop(host, (0, now))
        count = 1 if now - last > FORGOTTEN_AFTER_S else count + 1
        self._failures[host] = (count, now)
        if len(self._failures) > ADDRESSES_MAX:
            del self._failures[next(iter(self._failures))]
        await self._clock.sleep(min(FIRST_DELAY_S * 2 ** min(count - 1, 16), DELAY_S_MAX))
