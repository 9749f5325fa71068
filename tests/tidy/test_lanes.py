"""A lane names files that are there: one that was moved would leave its lane unnoticed."""

import pytest

from tests.lanes import FIRST, LANES

from .sources import ROOT


@pytest.mark.parametrize("place", [*FIRST, *(place for places in LANES.values() for place in places)])
def test_what_a_lane_names_is_there(place: str) -> None:
    assert (ROOT / place).exists()
