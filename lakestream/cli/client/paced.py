"""The pace of generated records: how many are due by now. After a slow send more are due, so the rate holds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    rate: float
    """Records a second."""
    count: int | None
    seconds: float | None

    def due(self, elapsed: float, sent: int) -> int:
        """How many records to send now, after so many seconds."""
        wanted = int((elapsed if self.seconds is None else min(elapsed, self.seconds)) * self.rate)
        return max(0, (wanted if self.count is None else min(wanted, self.count)) - sent)

    def is_over(self, elapsed: float, sent: int) -> bool:
        enough = self.count is not None and sent >= self.count
        return enough or (self.seconds is not None and elapsed >= self.seconds)
