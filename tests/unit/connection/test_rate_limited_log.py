"""Lines that strangers can cause: the first few of a minute, then their number, in bounded memory."""

from typing import Any

from structlog.testing import CapturingLogger

from lakestream.protocol.rate_limited_log import KEYS_MAX, LINES_MAX, MANY, RateLimitedLog


class Lines:
    def __init__(self) -> None:
        self.seconds = 0.0
        self._written = CapturingLogger()
        self.log = RateLimitedLog(self._written, now=lambda: self.seconds)  # type: ignore[arg-type]

    @property
    def written(self) -> list[tuple[str, str, dict[str, Any]]]:
        return [(call.method_name, call.args[0], call.kwargs) for call in self._written.calls]


def test_a_storm_writes_a_few_lines_and_then_their_number() -> None:
    lines = Lines()
    for number in range(20_000):
        lines.log.info("closing", client="10.0.0.7", reason=f"a frame of {number} bytes")
    assert lines.written == [
        ("info", "closing", {"client": "10.0.0.7", "reason": f"a frame of {number} bytes"})
        for number in range(LINES_MAX)
    ]
    lines.seconds = 59.9
    lines.log.tell_counts()
    assert len(lines.written) == LINES_MAX
    lines.seconds = 60
    lines.log.tell_counts()
    assert lines.written[LINES_MAX:] == [
        ("info", "closing", {"client": "10.0.0.7", "lines_left_out": 20_000 - LINES_MAX})
    ]


def test_the_next_minute_writes_lines_again() -> None:
    lines = Lines()
    for _ in range(LINES_MAX + 1):
        lines.log.warning("refused", client="a", kind="full")
    lines.seconds = 61
    lines.log.warning("refused", client="a", kind="full", note="new")
    assert [facts for _, _, facts in lines.written[LINES_MAX:]] == [
        {"client": "a", "kind": "full", "lines_left_out": 1},
        {"client": "a", "kind": "full", "note": "new"},
    ]


def test_lines_that_were_all_written_are_not_counted_again() -> None:
    lines = Lines()
    lines.log.error("failed", client="a")
    lines.seconds = 61
    lines.log.tell_counts()
    assert lines.written == [("error", "failed", {"client": "a"})]


def test_an_address_and_a_reason_do_not_take_the_lines_of_another() -> None:
    lines = Lines()
    for _ in range(100):
        lines.log.info("closing", client="a", kind="one")
    lines.log.info("closing", client="a", kind="two")
    lines.log.info("closing", client="b", kind="one")
    lines.log.info("refused", client="a", kind="one")
    assert len(lines.written) == LINES_MAX + 3


def test_many_addresses_share_one_limit_in_bounded_memory() -> None:
    lines = Lines()
    for number in range(10_000):
        lines.log.info("closing", client=f"address-{number}")
    assert len(lines.written) == KEYS_MAX + LINES_MAX
    lines.seconds = 60
    lines.log.tell_counts()
    left_out = 10_000 - KEYS_MAX - LINES_MAX
    assert lines.written[-1] == ("info", "closing", {"client": MANY, "lines_left_out": left_out})
