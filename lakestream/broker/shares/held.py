"""HeldShare: a share-partition that this broker holds, and the saver that writes many of them in one transaction.

    put a new state -> wait until it is saved -> answer

All that changes while a transaction is under way goes into the next one, together. After a failed save the content of
the store is unknown, and after a refused one it is another broker's: either way the share-partition is dropped, and
the next request reads it again.
"""

import asyncio
from collections import deque
from collections.abc import Callable

import structlog

from lakestream.broker.shares.errors import ShareOvertaken
from lakestream.broker.shares.state import ShareState
from lakestream.broker.shares.state_codec import saved_share
from lakestream.broker.shares.store_clock import StoreClock
from lakestream.metadata.share_partition import ShareKey, ShareSave
from lakestream.metadata.share_store import ShareStore
from lakestream.model.errors import LakestreamError, StoreUnavailable
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)

SAVES_PER_CALL = 500
"""Share-partitions in one transaction."""


class HeldShare:
    def __init__(self, key: ShareKey, epoch: int, state: ShareState, *, used_ms: int) -> None:
        self.key = key
        self.epoch = epoch
        self.state = state
        self.used_ms = used_ms
        self.lost: LakestreamError | None = None
        self.reading = asyncio.Lock()
        """Held from reading the log until what was read is locked: two readers would read the same records."""
        self._version = 0
        self._saved_version = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def is_saved(self) -> bool:
        return self._saved_version == self._version

    @property
    def is_idle(self) -> bool:
        return self.is_saved and not self.reading.locked()

    @property
    def version(self) -> int:
        return self._version

    def put(self, state: ShareState) -> None:
        if state != self.state:
            self.state = state
            self._version += 1

    def must_be_saved(self) -> None:
        """Also if the state has not changed: it was chosen, not read."""
        self._version += 1

    def when_saved(self) -> "asyncio.Future[None]":
        """Done when the present state is in the store."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.lost is not None:
            future.set_exception(self.lost)
        elif self.is_saved:
            future.set_result(None)
        else:
            self._waiting.append((self._version, future))
        return future

    def saved(self, version: int) -> None:
        self._saved_version = version
        while self._waiting and self._waiting[0][0] <= version:
            _release(self._waiting.popleft()[1], None)

    def lose(self, error: LakestreamError) -> None:
        self.lost = self.lost or error
        while self._waiting:
            _release(self._waiting.popleft()[1], self.lost)


def _release(waiting: "asyncio.Future[None]", error: LakestreamError | None) -> None:
    if waiting.done():
        return  # whoever waited has gone
    if error is None:
        waiting.set_result(None)
    else:
        waiting.set_exception(error)
        waiting.exception()  # retrieved, even if nobody awaits it any more


class ShareSaver:
    def __init__(
        self, store: ShareStore, clock: StoreClock, tasks: Tasks, on_lost: Callable[[HeldShare], None]
    ) -> None:
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._on_lost = on_lost
        self._changed: dict[HeldShare, None] = {}
        self._saving = False

    def save(self, held: HeldShare) -> "asyncio.Future[None]":
        """Done when the present state is in the store. Raises ShareOvertaken, StoreUnavailable."""
        if not held.is_saved and held.lost is None:
            self._changed[held] = None
            if not self._saving:
                self._saving = True
                self._tasks.spawn(self._save_all(), name="save-shares")
        return held.when_saved()

    async def _save_all(self) -> None:
        try:
            while self._changed:
                some = list(self._changed)[:SAVES_PER_CALL]
                for held in some:
                    del self._changed[held]
                await self._save_some(some)
        finally:
            self._saving = False

    async def _save_some(self, some: list[HeldShare]) -> None:
        versions = [held.version for held in some]
        try:
            saved = await self._store.save([ShareSave(held.epoch, saved_share(held.state)) for held in some])
        except LakestreamError as error:
            log.warning("share-partitions were dropped, since they could not be saved", error=str(error))
            for held in some:
                self._drop(held, StoreUnavailable(f"what group '{held.key.group}' did could not be saved: {error}"))
            return
        self._clock.heard(saved.now_ms)
        for held, version in zip(some, versions, strict=True):
            if held.epoch in saved.stored:
                held.saved(version)
            else:
                self._drop(held, ShareOvertaken(f"another broker serves this partition to group '{held.key.group}'"))

    def _drop(self, held: HeldShare, error: LakestreamError) -> None:
        held.lose(error)
        self._on_lost(held)
