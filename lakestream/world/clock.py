"""Time that is passed in, so that a simulation can control it.

Wall time may jump and is only shown or stored. All waits and ages in this process use monotonic time.
"""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    def wall_ms(self) -> int:
        """Milliseconds since 1970. May jump."""
        ...

    def monotonic(self) -> float:
        """Seconds, from an arbitrary start. Never goes back."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's own clocks."""

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
