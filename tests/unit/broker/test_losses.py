"""Lost records are named in the log, each partition once a minute, and kept in mind until they are read."""

from structlog.testing import capture_logs

from lakestream.broker.losses import KEPT_SECONDS, PARTITIONS_MAX, SILENT_SECONDS, Losses
from lakestream.model.errors import SegmentLost, StoreUnavailable


class HandClock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def wall_ms(self) -> int:
        return int(self.now * 1000)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


LOST = SegmentLost("segment 01ABC is gone: restore the object")


def test_a_lost_object_is_named_once_a_minute_for_each_partition() -> None:
    clock = HandClock()
    losses = Losses(clock)
    with capture_logs() as said:
        for _ in range(100):
            losses.met(1, 5, LOST)
            losses.met(2, 7, LOST)
        clock.now += SILENT_SECONDS
        losses.met(1, 5, LOST)
    assert [(line["partition"], line["offset"]) for line in said] == [(1, 5), (2, 7), (1, 5)]
    assert "01ABC" in said[0]["error"]


def test_what_goes_away_by_itself_is_not_worth_a_line() -> None:
    with capture_logs() as said:
        Losses(HandClock()).met(1, 5, StoreUnavailable("a moment"))
    assert said == []


def test_many_partitions_are_named_all_the_same() -> None:
    losses = Losses(HandClock())
    with capture_logs() as said:
        for partition in range(PARTITIONS_MAX + 10):
            losses.met(partition, 0, LOST)
    assert len(said) == PARTITIONS_MAX + 10


def test_what_was_met_is_kept_until_its_offset_is_read_or_nobody_asks_any_more() -> None:
    clock = HandClock()
    losses = Losses(clock)
    with capture_logs():
        for partition in (1, 2, 3):
            losses.met(partition, 5, LOST)
    losses.read(1, 6, 9)  # what lies behind was read, not the lost records
    losses.read(2, 4, 6)
    assert [(loss.partition, loss.offset) for loss in losses.kept()] == [(1, 5), (3, 5)]
    assert "01ABC" in losses.kept()[0].problem
    clock.now += KEPT_SECONDS
    assert losses.kept() == []
