"""The groups that this broker holds: it claims them on first use, lets them go when they move, and runs their timers.

    hold -> ours? -> held already, or claim it from the store (once, however many ask) and take up where it was left

Every request checks whether the group is still ours. When brokers come or go, a group may move, and waiting members are
told to look for its coordinator again. If two brokers believe that they own a group, the later claim wins: the store
refuses the next write of the other broker, which then forgets the group.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from lakestream.broker.groups.deadlines import Deadlines
from lakestream.broker.groups.errors import CoordinatorNotAvailable, InvalidGroupId
from lakestream.broker.groups.held import HeldGroup, told_to_clients
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.machine import new_machine, restored_machine
from lakestream.broker.groups.saved.state_codec import decode_state
from lakestream.broker.groups.topics.topics import TopicsImage
from lakestream.broker.groups.turn import Turn
from lakestream.metadata.group_store import GroupStore
from lakestream.model.broker import BrokerLease
from lakestream.model.errors import LakestreamError, NotCoordinator
from lakestream.model.group import GroupClaim
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

TICK_SECONDS = 0.05
"""How late a deadline may be noticed."""

SWEEP_SECONDS = 5.0
"""How often the broker drops groups that have moved away or that nobody uses."""


class TopicsSource(Protocol):
    """The topics as this broker knows them."""

    def image(self) -> TopicsImage: ...

    async def refresh(self) -> None:
        """Learn at least everything that any client was told before this call."""
        ...


class Holdings:
    def __init__(
        self,
        *,
        store: GroupStore,
        topics: TopicsSource,
        lease: Callable[[], BrokerLease],
        is_ours: Callable[[str], bool],
        limits: GroupLimits,
        clock: Clock,
        tasks: Tasks,
        limits_of: Callable[[str], GroupLimits] | None = None,
    ) -> None:
        """`limits_of` knows the timeouts of groups that have chosen their own."""
        self.limits = limits
        self._limits_of = limits_of or (lambda group: limits)
        self._store = store
        self._topics = topics
        self._lease = lease
        self._is_ours = is_ours
        self._clock = clock
        self._tasks = tasks
        self._held: dict[str, HeldGroup] = {}
        self._loading: dict[str, asyncio.Task[HeldGroup | LakestreamError | None]] = {}
        self._deadlines: Deadlines[str] = Deadlines()
        self._closed = False

    def start(self) -> None:
        self._tasks.spawn(self._tick_for_ever(), name="group-timers")
        self._tasks.spawn(self._sweep_for_ever(), name="group-sweep")

    def close(self) -> None:
        """Send everyone who waits to another broker. Everything that clients were told is in the store already."""
        self._closed = True
        for held in self.all():
            held.lose(NotCoordinator(f"this broker is leaving: ask again who coordinates group '{held.name}'"))

    def all(self) -> Iterable[HeldGroup]:
        return list(self._held.values())

    # --- holding -------------------------------------------------------------------------------

    async def hold(self, name: str, *, create: bool = False) -> HeldGroup | None:
        """The group, claimed if it was not held yet. None if there is no such group. Raises NotCoordinator."""
        held = self.in_hand(name)
        if held is None:
            held = await self._load_once(name, create)
            if held is not None:
                held.used_ms = self.now_ms()
        return held

    def in_hand(self, name: str) -> HeldGroup | None:
        """The group, if it is held already. Raises InvalidGroupId, NotCoordinator."""
        self.check_ours(name)
        held = self._held.get(name)
        if held is not None:
            held.used_ms = self.now_ms()
        return held

    def check_ours(self, name: str) -> None:
        """Raises InvalidGroupId, NotCoordinator."""
        if not name:
            raise InvalidGroupId("a group needs a name: set group.id")
        if "\0" in name:
            raise InvalidGroupId("a group's name cannot hold the character NUL")
        if self._closed or not self._is_ours(name):
            error = _moved(name)
            if name in self._held:
                self._held[name].lose(error)
            raise error

    async def _load_once(self, name: str, create: bool) -> HeldGroup | None:
        loading = self._loading.get(name)
        if loading is None:
            self._make_room()
            loading = self._tasks.spawn(self._load(name, create), name=f"load-group-{name}")
            self._loading[name] = loading
            loading.add_done_callback(lambda _: self._loading.pop(name, None))
        loaded = await asyncio.shield(loading)  # other requests wait for it too
        if isinstance(loaded, LakestreamError):
            raise loaded
        if loaded is None and create:  # a request that does not create groups came first
            return await self._load_once(name, create)
        return loaded

    async def _load(self, name: str, create: bool) -> HeldGroup | LakestreamError | None:
        try:
            claim = await self._store.claim_group(name, self._lease(), create=create)
            if claim is None:
                return None
            await self._topics.refresh()
            return self._take_up(name, claim)
        except LakestreamError as error:
            return told_to_clients(name, error)

    def _take_up(self, name: str, claim: GroupClaim) -> HeldGroup:
        turn = self.turn(name)
        machine = new_machine(name) if claim.state is None else restored_machine(name, decode_state(claim.state), turn)
        held = HeldGroup(
            name,
            claim.epoch,
            machine,
            used_ms=turn.now_ms,  # otherwise the sweep could put it away before the first request sees it
            store=self._store,
            tasks=self._tasks,
            on_lost=self._lost,
        )
        self._held[name] = held
        self.settle_later(held, turn)
        return held

    def _lost(self, held: HeldGroup) -> None:
        if self._held.get(held.name) is held:
            del self._held[held.name]
            self._deadlines.cancel(held.name)

    def _make_room(self) -> None:
        if len(self._held) + len(self._loading) < self.limits.groups_max:
            return
        self._put_away([held for held in self._held.values() if held.is_idle])
        if len(self._held) + len(self._loading) >= self.limits.groups_max:
            raise CoordinatorNotAvailable(f"this broker coordinates {self.limits.groups_max} groups: add a broker")

    def _put_away(self, groups: Iterable[HeldGroup]) -> None:
        for held in groups:
            held.lose(CoordinatorNotAvailable(f"group '{held.name}' was put away: try again"))

    # --- turns and time ------------------------------------------------------------------------

    def turn(self, group: str) -> Turn:
        return Turn(now_ms=self.now_ms(), limits=self._limits_of(group), topics=self._topics.image())

    async def settle(self, held: HeldGroup, turn: Turn) -> None:
        """Return when the effects of the turn are durable."""
        self._schedule(held)
        await held.settle(turn)

    def settle_later(self, held: HeldGroup, turn: Turn) -> None:
        self._schedule(held)
        held.settle_later(turn)

    def _schedule(self, held: HeldGroup) -> None:
        at_ms = held.machine.next_deadline()
        if at_ms is not None and held.lost is None:
            self._deadlines.set(held.name, at_ms)

    def now_ms(self) -> int:
        return int(self._clock.monotonic() * 1000)

    async def _tick_for_ever(self) -> None:
        while True:
            await self._clock.sleep(TICK_SECONDS)
            for name in self._deadlines.take_due(self.now_ms()):
                self._tick(self._held[name])

    def _tick(self, held: HeldGroup) -> None:
        if not self._is_ours(held.name):
            held.lose(_moved(held.name))
            return
        turn = self.turn(held.name)
        held.machine.tick(turn)
        self.settle_later(held, turn)

    async def _sweep_for_ever(self) -> None:
        while True:
            await self._clock.sleep(SWEEP_SECONDS)
            for held in self.all():
                if not self._is_ours(held.name):
                    held.lose(_moved(held.name))
            unused_since = self.now_ms() - self.limits.idle_ms_max
            self._put_away([held for held in self._held.values() if held.is_idle and held.used_ms < unused_since])


def _moved(name: str) -> NotCoordinator:
    return NotCoordinator(f"another broker coordinates group '{name}': ask which one, and go there")
