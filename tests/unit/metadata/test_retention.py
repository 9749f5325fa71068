"""Which spans retention takes."""

from lakestream.metadata.rules.retention import OldSpan, expired_spans


def spans(*facts: tuple[int, int, int]) -> list[OldSpan]:
    """(length, greatest timestamp, commit time) of spans of one record."""
    return [OldSpan(offset, length, time, committed) for offset, (length, time, committed) in enumerate(facts)]


def test_without_bounds_nothing_goes() -> None:
    assert not expired_spans(spans((5, 1, 1)), 5, expired_before_ms=None, bytes_max=None)


def test_a_young_span_protects_older_ones_behind_it() -> None:
    three = spans((5, 1, 0), (5, 90, 0), (5, 2, 0))
    assert expired_spans(three, 15, expired_before_ms=50, bytes_max=None) == three[:1]


def test_without_a_timestamp_the_commit_counts() -> None:
    two = spans((5, -1, 10), (5, -1, 60))
    assert expired_spans(two, 10, expired_before_ms=50, bytes_max=None) == two[:1]


def test_what_stays_fills_the_bound() -> None:
    three = spans((5, 9, 0), (5, 9, 0), (5, 9, 0))
    assert expired_spans(three, 15, expired_before_ms=None, bytes_max=6) == three[:1]
    assert expired_spans(three, 15, expired_before_ms=None, bytes_max=5) == three[:2]
    assert expired_spans(three, 15, expired_before_ms=None, bytes_max=11) == []


def test_either_bound_is_enough() -> None:
    three = spans((5, 1, 0), (5, 90, 0), (5, 90, 0))
    assert expired_spans(three, 15, expired_before_ms=50, bytes_max=5) == three[:2]
