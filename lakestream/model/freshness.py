"""How fresh a topic's table is promised to be: what `lakestream.freshness` may say, and what each band means.

A record is due in the table when it has waited for `due_ms`. The time to notice it and to commit it comes on top: the
table is late when its oldest missing record has waited for longer than `late_seconds`.
"""

from enum import StrEnum

FRESHNESS = "lakestream.freshness"


class Freshness(StrEnum):
    ON_READ = "on-read"
    """Whoever loads the table waits until it has what was acknowledged before. Between loads it is as under 10s."""
    ONE_SECOND = "1s"
    TEN_SECONDS = "10s"
    ONE_MINUTE = "1m"
    QUARTER_HOUR = "15m"
    ONE_HOUR = "1h"

    @property
    def promised_seconds(self) -> int:
        return _PROMISED_SECONDS[self]

    @property
    def due_ms(self) -> int:
        """1s is due after half of it: a round that takes a second would spend all of the promise."""
        return 500 if self is Freshness.ONE_SECOND else 1_000 * self.promised_seconds

    @property
    def late_seconds(self) -> float:
        return self.promised_seconds + max(1.0, self.promised_seconds / 2)

    @property
    def is_fast(self) -> bool:
        """Whether rounds are kept short for its sake."""
        return self in (Freshness.ON_READ, Freshness.ONE_SECOND)


DEFAULT_FRESHNESS = Freshness.TEN_SECONDS

_PROMISED_SECONDS = {
    Freshness.ON_READ: 10,
    Freshness.ONE_SECOND: 1,
    Freshness.TEN_SECONDS: 10,
    Freshness.ONE_MINUTE: 60,
    Freshness.QUARTER_HOUR: 15 * 60,
    Freshness.ONE_HOUR: 60 * 60,
}
