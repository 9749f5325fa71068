"""StoreClock: the metadata store's time as this broker last heard it, carried on by the broker's own clock.

Never ahead of the store by more than the two clocks drift apart between two answers, so no lock is taken for run out
too early. A network's delay makes it late, and a lock lasts that much longer.
"""

from lakestream.world.clock import Clock


class StoreClock:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead_ms = 0

    def heard(self, now_ms: int) -> None:
        self._ahead_ms = now_ms - self._monotonic_ms()

    def now_ms(self) -> int:
        """Means something once the store was heard: nobody needs it before the first claim."""
        return self._monotonic_ms() + self._ahead_ms

    def _monotonic_ms(self) -> int:
        return int(self._clock.monotonic() * 1000)
