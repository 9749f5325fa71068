"""One life of a process: it runs, freezes, thaws and dies, and its calls travel through the weather.

    call -> awake? -> [crash, freeze] -> request travels -> the store acts -> answer travels -> [crash] -> awake?

Once sent, a request goes on by itself: it reaches the store even if its sender is frozen or dead by then,
which is what makes zombies dangerous. A dead life sends nothing and hears nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from lakestream.model.errors import LakestreamError, StorageFull, StoreUnavailable
from lakestream.world.tasks import Tasks

from .clocks import BrokerClock, WorldClock
from .trace import Trace
from .weather import Crash, Fault, Kind, Weather

T = TypeVar("T")


class Life:
    def __init__(
        self,
        name: str,
        *,
        clock: WorldClock,
        skew_ms: int,
        weathers: dict[str, Weather],
        network: Tasks,
        trace: Trace,
        on_failure: Callable[[str, BaseException], None],
    ) -> None:
        self.name = name
        self.clock = BrokerClock(clock, self, skew_ms)
        self.weathers = weathers
        self.tasks = Tasks(on_failure=lambda task, error: None if self.is_dead else on_failure(f"{name} {task}", error))
        self.is_dead = False
        self.on_death: list[Callable[[], None]] = []
        self._network = network
        self._trace = trace
        self._world_clock = clock
        self._running = asyncio.Event()
        self._running.set()
        self._frozen_at = 0.0

    @property
    def is_frozen(self) -> bool:
        return not self._running.is_set()

    # --- running, frozen, dead -------------------------------------------------------------------

    async def awake(self) -> None:
        """Pass when the process runs: a frozen one waits here, a dead one ends here."""
        while not self.is_dead and self.is_frozen:
            await self._running.wait()
        if self.is_dead:
            raise asyncio.CancelledError

    def freeze(self) -> None:
        self._trace.note("freeze", self.name)
        self._frozen_at = self._world_clock.monotonic()
        self._running.clear()

    def _freeze_for(self, seconds: float) -> None:
        """As if the process had been stopped right now."""
        self.freeze()
        frozen_at = self._frozen_at

        def thaw() -> None:
            if self.is_frozen and not self.is_dead and self._frozen_at == frozen_at:
                self.thaw(was_suspended=False)

        asyncio.get_running_loop().call_later(seconds, thaw)

    def thaw(self, *, was_suspended: bool) -> None:
        """Go on. On a suspended machine the monotonic clock has not counted the pause."""
        self._trace.note("thaw", self.name, "suspended" if was_suspended else "stopped")
        if was_suspended:
            self.clock.suspend(self._world_clock.monotonic() - self._frozen_at)
        self._running.set()

    def kill(self, why: str) -> None:
        """`kill -9`: nothing is finished, nothing is said."""
        if self.is_dead:
            return
        self._trace.note("kill", self.name, why)
        self.is_dead = True
        self._running.set()
        for callback in self.on_death:
            callback()
        self._network.spawn(self.tasks.close(), name=f"bury-{self.name}")

    # --- calls to the outside --------------------------------------------------------------------

    async def call(self, room: str, verb: str, act: Callable[[], Awaitable[T]], about: object = "") -> T:
        """Do `act` in the weather of `room`. Raises what the store raised, or StoreUnavailable."""
        await self.awake()
        fault = self.weathers[room].next(verb)
        if fault.crash is Crash.BEFORE:
            await self._crash(f"before {verb}")
        if fault.freeze_seconds and not self.is_frozen:
            self._freeze_for(fault.freeze_seconds)
            await self.awake()
        travelling = self._network.spawn(self._travel(room, verb, act, about, fault), name=f"{self.name}-{verb}")
        answer = await asyncio.shield(travelling)
        if fault.crash is Crash.AFTER:
            await self._crash(f"after {verb}")
        await self.awake()
        if isinstance(answer, LakestreamError):
            raise answer
        return answer  # type: ignore[return-value]

    async def _travel(
        self, room: str, verb: str, act: Callable[[], Awaitable[T]], about: object, fault: Fault
    ) -> T | LakestreamError:
        await asyncio.sleep(fault.request_seconds)
        answer = await self._acted(room, verb, act, fault)
        self._trace.note(f"{room}.{verb}", self.name, fault.kind.value, about, _brief(answer))
        await asyncio.sleep(fault.answer_seconds)
        return answer

    async def _acted(self, room: str, verb: str, act: Callable[[], Awaitable[T]], fault: Fault) -> T | LakestreamError:
        match fault.kind:
            case Kind.REFUSED:
                return StoreUnavailable(f"simulated: {room} refused {verb}")
            case Kind.FULL:
                return StorageFull(f"simulated: no room in {room} for {verb}")
            case Kind.LATE:
                self._network.spawn(self._act_late(room, verb, act, fault), name=f"{self.name}-late-{verb}")
                return StoreUnavailable(f"simulated: {room} did not answer {verb} in time")
        try:
            answer = await act()
        except LakestreamError as error:
            return error
        return answer if fault.kind is Kind.NONE else StoreUnavailable(f"simulated: {room}'s answer to {verb} was lost")

    async def _act_late(self, room: str, verb: str, act: Callable[[], Awaitable[Any]], fault: Fault) -> None:
        await asyncio.sleep(fault.late_seconds)
        try:
            answer = await act()
        except LakestreamError as error:
            answer = error
        self._trace.note(f"late {room}.{verb}", self.name, _brief(answer))

    async def _crash(self, why: str) -> None:
        self.kill(why)
        raise asyncio.CancelledError


def _brief(answer: object) -> str:
    return f"{type(answer).__name__}: {answer}" if isinstance(answer, Exception) else type(answer).__name__
