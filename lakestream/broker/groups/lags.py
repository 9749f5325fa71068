"""Consumer lag for monitoring: each broker reports the groups that it coordinates."""

from collections.abc import Callable, Sequence

from lakestream.metadata.group_store import GroupStore
from lakestream.model.group import PartitionLag
from lakestream.world.clock import Clock

LAGS_MAX = 20_000
"""Partitions over all groups, in the order of names; later ones are not shown. Each is a series in a metrics store."""

FRESH_SECONDS = 5.0
"""Requests within this time get the same answer, so that monitoring does not load the store."""


class Lags:
    def __init__(self, store: GroupStore, is_ours: Callable[[str], bool], clock: Clock) -> None:
        self._store = store
        self._is_ours = is_ours
        self._clock = clock
        self._read_at = -FRESH_SECONDS
        self._lags: Sequence[PartitionLag] = ()

    async def ours(self) -> Sequence[PartitionLag]:
        if self._clock.monotonic() - self._read_at >= FRESH_SECONDS:
            self._lags = await self._store.lags(LAGS_MAX)
            self._read_at = self._clock.monotonic()
        return [lag for lag in self._lags if self._is_ours(lag.group)]
