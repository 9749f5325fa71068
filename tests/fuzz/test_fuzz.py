"""Damaged frames of every API and version harm nobody: 50,000 of them, in five rounds."""

import pytest

from .round import run_round
from .run import FRAMES_PER_ROUND


@pytest.mark.parametrize("seed", range(5))
def test_damaged_frames_harm_nobody(seed: int) -> None:
    outcome = run_round(seed, FRAMES_PER_ROUND)
    print(f"make fuzz SEED={seed}:", outcome)
    assert outcome.faults == []
    assert outcome.frames == FRAMES_PER_ROUND
