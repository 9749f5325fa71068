"""The value that a share of all stays at or below, by nearest rank: one that was measured, none in between."""

import math
from collections.abc import Sequence


def quantile(taken: Sequence[float], share: float) -> float:
    """Of 200 values, the 198th from below is the one at 0.99."""
    ordered = sorted(taken)
    return ordered[max(1, math.ceil(round(share * len(ordered), 6))) - 1]
