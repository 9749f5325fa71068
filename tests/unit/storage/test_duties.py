"""How often the chores of the log are done."""

import pytest

from lakestream.storage.garbage.duties import garbage_limits


@pytest.mark.parametrize(("grace_ms", "seconds"), [(0, 1.0), (500, 1.0), (10_000, 10.0), (3_600_000, 30.0)])
def test_dead_objects_are_looked_for_as_often_as_a_short_grace_asks(grace_ms: int, seconds: float) -> None:
    limits = garbage_limits(grace_ms)
    assert (limits.grace_ms, limits.delete_seconds) == (grace_ms, seconds)
