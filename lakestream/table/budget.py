"""The share of the pipeline's time that may go into upkeep: merging and clustering together keep to it.

work of 3 s under a share of 0.15  ->  no more work for 20 s from its beginning
"""

from lakestream.world.clock import Clock


class UpkeepBudget:
    def __init__(self, clock: Clock, *, share: float) -> None:
        """`share` is between 0 and 1. Nothing is ever free if it is 0."""
        self._clock = clock
        self._share = share
        self._free_at = clock.monotonic()

    @property
    def is_free(self) -> bool:
        """Whether upkeep has used no more than its share."""
        return self._share > 0 and self._clock.monotonic() >= self._free_at

    @property
    def is_off(self) -> bool:
        return self._share <= 0

    def spent(self, seconds: float) -> None:
        """Work that began so many seconds ago has ended."""
        if self._share:
            began = self._clock.monotonic() - seconds
            self._free_at = max(self._free_at, began + seconds / self._share)
