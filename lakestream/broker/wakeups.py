"""Wakes long-polling readers when a partition that they wait for has grown.

Commits of this broker wake them at once. For commits of other brokers, the store raises an alarm. One read then covers
every partition that someone waits for, and wakes only the readers of those that grew.
"""

import asyncio
from collections.abc import Callable, Iterable

import structlog

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.topic import PartitionId
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)

ALARM_SECONDS_MIN = 0.005
"""Alarms closer together than this share one read."""


class Waiter:
    """One reader, waiting for any of its partitions."""

    __slots__ = ("_woken", "partitions")

    def __init__(self, partitions: frozenset[PartitionId]) -> None:
        self.partitions = partitions
        self._woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake(self) -> None:
        if not self._woken.done():
            self._woken.set_result(None)

    async def wait(self, clock: Clock, seconds: float) -> None:
        """Return when woken, or after `seconds`."""
        timer = asyncio.ensure_future(clock.sleep(seconds))
        timer.add_done_callback(lambda _: self.wake())
        try:
            await self._woken
        finally:
            timer.cancel()


class Wakeups:
    def __init__(self, store: MetadataStore, clock: Clock, tasks: Tasks) -> None:
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._waiters: dict[PartitionId, dict[Waiter, None]] = {}  # woken in the order they came
        self._ends: dict[PartitionId, int] = {}
        self._alarm = asyncio.Event()

    def start(self) -> Callable[[], None]:
        """Follow the store's alarms. Returns the function that ends it."""
        self._tasks.spawn(self._follow(), name="wakeups")
        return self._store.on_change(self._alarm.set)

    def expect(self, partitions: Iterable[PartitionId]) -> Waiter:
        """Begin to wait. Check the partitions once more after this, and only then sleep."""
        waiter = Waiter(frozenset(partitions))
        for partition in waiter.partitions:
            self._waiters.setdefault(partition, {})[waiter] = None
        return waiter

    def done(self, waiter: Waiter) -> None:
        for partition in waiter.partitions:
            waiters = self._waiters[partition]
            waiters.pop(waiter, None)
            if not waiters:
                del self._waiters[partition]
                self._ends.pop(partition, None)

    def wake(self, partitions: Iterable[PartitionId]) -> None:
        for partition in partitions:
            for waiter in self._waiters.get(partition, ()):
                waiter.wake()

    async def _follow(self) -> None:
        while True:
            await self._alarm.wait()
            await self._clock.sleep(ALARM_SECONDS_MIN)
            self._alarm.clear()
            if not self._waiters:
                continue
            try:
                await self._wake_grown()
            except LakestreamError as error:
                log.warning("could not look for new records; readers poll meanwhile", error=str(error))

    async def _wake_grown(self) -> None:
        sizes = await self._store.tails(list(self._waiters))
        grown = []
        for partition in list(self._waiters):
            size = sizes.get(partition)
            end = -1 if size is None else size.tail.next_offset  # deleted: its readers should notice
            if self._ends.get(partition) != end:
                self._ends[partition] = end
                grown.append(partition)
        self.wake(grown)
