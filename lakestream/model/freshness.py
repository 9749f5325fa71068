"""The freshness that a topic promises for its table: the values of `lakestream.freshness`, and their meaning.

A record is due in the table after `due_ms`. The pipeline then needs time to notice and to commit it. The table is late
when its oldest missing record has waited for more than `late_seconds`.
"""

from enum import StrEnum

FRESHNESS = "lakestream.freshness"


class Freshness(StrEnum):
    ON_READ = "on-read"
    """A load of the table waits for all records that were acknowledged before. Between loads it is like 10s."""
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
        """1s is due after half a second: the round that follows takes about as long."""
        return 500 if self is Freshness.ONE_SECOND else 1_000 * self.promised_seconds

    @property
    def late_seconds(self) -> float:
        return self.promised_seconds + max(1.0, self.promised_seconds / 2)

    @property
    def is_fast(self) -> bool:
        """Whether the pipeline keeps its rounds short for such topics."""
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
