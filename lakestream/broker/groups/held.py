"""A group that this broker holds: its machine, the epoch of the claim, and the answers that wait for a save.

    take a turn -> nothing to save, nothing unsaved: answer at once (heartbeats never touch the store)
                -> else: save, then answer; turns taken meanwhile share the next save

An answer leaves only after the state that it was given from is in the store. After a failed save, the content of the
store is unknown: the broker drops the group, tells everyone who waits to look for the coordinator again, and the next
request reads the group from the store.

Commits and saves keep their order: a save waits for the commits that were accepted before it. So no commit of an old
generation can land after a client has learned of a new one.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import structlog

from lakestream.broker.groups.asks import CONSUMER_PROTOCOL, SHARE_PROTOCOL, ParkedAnswer
from lakestream.broker.groups.classic.group import ClassicGroup
from lakestream.broker.groups.errors import CoordinatorNotAvailable
from lakestream.broker.groups.machine import GroupMachine
from lakestream.broker.groups.saved.state import ClassicState
from lakestream.broker.groups.saved.state_codec import StateWriter
from lakestream.broker.groups.share.group import ShareGroup
from lakestream.broker.groups.turn import Ticket, Turn
from lakestream.metadata.group_store import GroupStore
from lakestream.model.errors import Corrupt, Fenced, IllegalGeneration, LakestreamError, NotCoordinator
from lakestream.model.group import GroupKind, SavedGroup
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)

Answer = asyncio.Future[ParkedAnswer]
Release = Callable[[LakestreamError | None], None]


class HeldGroup:
    def __init__(
        self,
        name: str,
        epoch: int,
        machine: GroupMachine,
        *,
        used_ms: int,
        store: GroupStore,
        tasks: Tasks,
        on_lost: Callable[["HeldGroup"], None],
    ) -> None:
        self.name = name
        self.epoch = epoch
        self.machine = machine
        self.used_ms = used_ms
        self.lost: LakestreamError | None = None
        self._store = store
        self._tasks = tasks
        self._on_lost = on_lost
        self._parked: dict[Ticket, Answer] = {}
        self._tickets = 0
        self._version = 0
        self._saved_version = 0
        self._unreleased: deque[tuple[int, Release]] = deque()
        self._saving = False
        self._commits: set[asyncio.Future[Any]] = set()
        self._writer = StateWriter()

    @property
    def is_idle(self) -> bool:
        """Whether the broker can forget the group without loss."""
        quiet = not self._parked and not self._commits and self._saved_version == self._version
        return quiet and self.machine.group.is_empty and self.machine.next_deadline() is None

    # --- requests ------------------------------------------------------------------------------

    def park(self) -> tuple[Ticket, Answer]:
        self._tickets += 1
        answer: Answer = asyncio.get_running_loop().create_future()
        self._parked[self._tickets] = answer
        return self._tickets, answer

    async def settle(self, turn: Turn) -> None:
        """Return when the turn is durable; its answers are delivered then. Raises if the group was lost."""
        released: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def release(error: LakestreamError | None) -> None:
            if not released.done():
                released.set_result(None) if error is None else released.set_exception(error)

        if self.settle_later(turn, release):
            return
        await released

    def settle_later(self, turn: Turn, release: Release | None = None) -> bool:
        """As `settle`, without waiting. Returns True if the turn is durable already."""
        if turn.persist:
            self._version += 1
        if self.lost is not None:
            self._refuse_all(self.lost)
            if release is not None:
                release(self.lost)
            return False
        if self._version == self._saved_version:
            self._deliver(turn.answers)
            return True
        self._unreleased.append((self._version, lambda error: self._release(turn, error, release)))
        if not self._saving:
            self._saving = True
            self._tasks.spawn(self._save(), name=f"save-group-{self.name}")
        return False

    def follow(self, write: "asyncio.Future[Any]") -> None:
        """Watch a write of offsets that this group has accepted. Later saves wait for it.

        The broker lets go of the group if another broker has taken it over, and also if the store did not answer. The
        write may still be under way then, and only the epoch of a new claim keeps it from landing after later ones."""
        self._commits.add(write)
        write.add_done_callback(self._written)

    def _written(self, write: "asyncio.Future[Any]") -> None:
        self._commits.discard(write)
        error = None if write.cancelled() else write.exception()
        if isinstance(error, LakestreamError):
            told = told_to_clients(self.name, error)
            if isinstance(told, NotCoordinator | CoordinatorNotAvailable):
                self.lose(told)

    def lose(self, error: LakestreamError) -> None:
        """The group is no longer ours, or its state is no longer known. Refuse all waiting requests."""
        if self.lost is not None:
            return
        self.lost = told_to_clients(self.name, error)
        self._on_lost(self)
        while self._unreleased:
            self._unreleased.popleft()[1](self.lost)
        self._refuse_all(self.lost)

    # --- saving --------------------------------------------------------------------------------

    async def _save(self) -> None:
        try:
            while self._saved_version < self._version and self.lost is None:
                await self._save_once()
        except LakestreamError as error:
            log.warning("a group was dropped, since its state could not be saved", group=self.name, error=str(error))
            self.lose(error)
        finally:
            self._saving = False

    async def _save_once(self) -> None:
        version, saved = self._version, saved_group(self.machine, self._writer)
        if self._commits:  # commits accepted from now on were checked against this state or a newer one
            await asyncio.wait(set(self._commits))
        await self._store.save_group(self.name, self.epoch, saved)
        self._saved_version = version
        while self._unreleased and self._unreleased[0][0] <= version:
            self._unreleased.popleft()[1](None)

    def _release(self, turn: Turn, error: LakestreamError | None, release: Release | None) -> None:
        if error is None:
            self._deliver(turn.answers)
        if release is not None:
            release(error)

    def _deliver(self, answers: list[tuple[Ticket, ParkedAnswer]]) -> None:
        for ticket, value in answers:
            answer = self._parked.pop(ticket, None)
            if answer is not None and not answer.done():  # done: the client has gone
                answer.set_result(value)

    def _refuse_all(self, error: LakestreamError) -> None:
        for answer in self._parked.values():
            if not answer.done():
                answer.set_exception(error)
        self._parked.clear()


def saved_group(machine: GroupMachine, writer: StateWriter) -> SavedGroup:
    group, state = machine.group, machine.snapshot()
    if isinstance(group, ClassicGroup):
        assert isinstance(state, ClassicState)
        return SavedGroup(
            kind=GroupKind.CLASSIC,
            protocol_type=group.protocol_type or "",
            generation=state.generation,
            empty=not state.occupied,
            subscribed=group.subscribed(),
            state=writer.encode(state),
        )
    is_share = isinstance(group, ShareGroup)
    return SavedGroup(
        kind=GroupKind.SHARE if is_share else GroupKind.CONSUMER,
        protocol_type=SHARE_PROTOCOL if is_share else CONSUMER_PROTOCOL,
        generation=group.epoch,
        empty=group.is_empty,
        subscribed=group.subscribed(),
        state=writer.encode(state),
    )


def told_to_clients(group: str, error: LakestreamError) -> LakestreamError:
    """Translate to one of the errors that clients can handle: ask for the coordinator, ask and retry, or join again."""
    if isinstance(error, NotCoordinator | CoordinatorNotAvailable | IllegalGeneration | Corrupt):
        return error
    if isinstance(error, Fenced):
        return NotCoordinator(f"this broker does not coordinate group '{group}' any more: {error}")
    return CoordinatorNotAvailable(f"the state of group '{group}' could not be read or saved: {error}")
