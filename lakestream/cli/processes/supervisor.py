"""The supervisor: starts the parts, reports when all are ready, restarts parts that end, drains them in the end.

    start all -> all ready -> (a part ends: wait, longer each time, start it again) -> SIGTERM -> drain all

A part reports that it is ready by one line on its stdout, and ends when its stdin closes, so that none outlives a
killed supervisor. A part that never became ready is not started again: the settings are wrong then, and the person who
typed the command should see it.
"""

import asyncio
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lakestream.cli.failures import CommandFailed
from lakestream.world.clock import Clock

RESTART_SECONDS_FIRST = 0.2
RESTART_SECONDS_MAX = 30.0
STEADY_SECONDS = 60.0
"""A part that ran for this long is not in a crash loop: its next restart is quick again."""
DRAIN_SECONDS_MAX = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    command: Sequence[str]
    background: bool = False
    """Started once all others are ready. The others do not wait for it, and its failure ends nothing else."""


class Supervisor:
    def __init__(
        self,
        parts: Sequence[Part],
        *,
        inherited: Sequence[int],
        clock: Clock,
        on_ready: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self._parts = parts
        self._inherited = tuple(inherited)
        self._clock = clock
        self._on_ready = on_ready
        self._say = say
        self._running: dict[str, Process] = {}
        self._never_ready = {part.name for part in parts if not part.background}
        self._all_ready = asyncio.Event()
        self._started: set[str] = set()
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Runs until told to stop. Raises CommandFailed when a part cannot start at all."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._told_to_stop)
        keeping = [asyncio.create_task(self._keep(part), name=part.name) for part in self._parts]
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait([*keeping, stopping], return_when=asyncio.FIRST_COMPLETED)
        self._stopping.set()
        await self._drain(keeping)
        stopping.cancel()
        for task in keeping:
            task.result()

    def _told_to_stop(self) -> None:
        if self._stopping.is_set():
            self._signal_all(signal.SIGKILL)  # told twice: someone is in a hurry
        self._stopping.set()

    async def _keep(self, part: Part) -> None:
        """Run the part for as long as the supervisor runs."""
        pause = RESTART_SECONDS_FIRST
        if part.background:
            await self._first_of(self._all_ready, self._stopping)
        while not self._stopping.is_set():
            started = self._clock.monotonic()
            code = await self._run_once(part)
            if self._stopping.is_set():
                return
            if part.name in self._never_ready:
                raise CommandFailed(f"{part.name} could not start ({_how(code)}); what it said is above")
            if self._clock.monotonic() - started > STEADY_SECONDS:
                pause = RESTART_SECONDS_FIRST
            self._say(f"{part.name} ended unexpectedly ({_how(code)}); starting it again in {pause:.1f} s")
            await self._wait(pause)
            pause = min(2 * pause, RESTART_SECONDS_MAX)

    async def _run_once(self, part: Part) -> int:
        process = await asyncio.create_subprocess_exec(*part.command, stdin=PIPE, stdout=PIPE, pass_fds=self._inherited)
        self._running[part.name] = process
        if self._stopping.is_set():
            process.terminate()
        assert process.stdout is not None
        if await process.stdout.readline():
            self._is_ready(part)
        code = await process.wait()
        del self._running[part.name]
        return code

    def _is_ready(self, part: Part) -> None:
        if part.name in self._started:
            self._say(f"{part.name} is back")
            return
        self._started.add(part.name)
        self._never_ready.discard(part.name)
        if not self._never_ready and not self._all_ready.is_set():
            self._all_ready.set()
            self._on_ready()

    async def _first_of(self, *events: asyncio.Event) -> None:
        waiting = [asyncio.ensure_future(event.wait()) for event in events]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for one in waiting:
            one.cancel()

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _drain(self, keeping: "Sequence[asyncio.Task[None]]") -> None:
        self._signal_all(signal.SIGTERM)
        _, slow = await asyncio.wait(keeping, timeout=DRAIN_SECONDS_MAX)
        if slow:
            self._say(f"{', '.join(task.get_name() for task in slow)} did not drain in time; ending by force")
            self._signal_all(signal.SIGKILL)
            await asyncio.wait(keeping)

    def _signal_all(self, number: signal.Signals) -> None:
        for process in self._running.values():
            with suppress(ProcessLookupError):
                process.send_signal(number)


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
