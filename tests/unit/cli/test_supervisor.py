"""The supervisor, with small processes in place of brokers."""

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from lakestream.cli.failures import CommandFailed
from lakestream.cli.processes.data_lock import lock_data
from lakestream.cli.processes.ports import any_free, chosen, free_after, is_free
from lakestream.cli.processes.supervisor import Part, Supervisor
from lakestream.settings.address import Address
from lakestream.world.clock import SystemClock

SERVING = "import sys; print('ready', flush=True); sys.stdin.read()"
"""Ready at once, ends when its lifeline closes."""
LOOPBACK = Address("127.0.0.1", 0)


def part(name: str, code: str) -> Part:
    return Part(name=name, command=[sys.executable, "-c", code])


class Watched:
    """A supervisor whose words are kept, and which does something once all parts are ready."""

    def __init__(self, *parts: Part) -> None:
        self.said: list[str] = []
        self.ready = 0
        self._parts = parts
        self._awaited = "is back"

    def run(self, then: str) -> None:
        asyncio.run(asyncio.wait_for(self._run(then), 20))

    async def _run(self, then: str) -> None:
        supervisor = Supervisor(
            self._parts,
            inherited=[],
            clock=SystemClock(),
            on_ready=lambda: self._on_ready(then),
            say=self._say,
        )
        self._supervisor = supervisor
        await supervisor.run()

    def _on_ready(self, then: str) -> None:
        self.ready += 1
        if then == "stop":
            os.kill(os.getpid(), signal.SIGTERM)

    def run_until_said(self, text: str) -> None:
        self._awaited = text
        self.run(then="wait")

    def _say(self, text: str) -> None:
        self.said.append(text)
        if self._awaited in text:
            os.kill(os.getpid(), signal.SIGTERM)


def test_all_ready_is_said_once_and_a_stop_ends_all() -> None:
    watched = Watched(part("a", SERVING), part("b", SERVING))
    watched.run(then="stop")
    assert watched.ready == 1
    assert watched.said == []


class Touching(Watched):
    """Leaves a file when all are ready."""

    def __init__(self, file: Path, *parts: Part) -> None:
        super().__init__(*parts)
        self._file = file

    def _on_ready(self, then: str) -> None:
        self._file.touch()
        super()._on_ready(then)


def test_a_background_part_is_started_after_the_ready_line_and_does_not_hold_it_up(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    never_ready = f"import pathlib, sys; sys.exit(0 if pathlib.Path({str(ready)!r}).exists() else 3)"
    late = Part(name="late", command=[sys.executable, "-c", never_ready], background=True)
    watched = Touching(ready, part("a", SERVING), late)
    watched.run_until_said("late ended unexpectedly (exit code 0)")
    assert watched.ready == 1


def test_a_background_part_that_cannot_start_ends_nothing_else() -> None:
    broken = Part(name="late", command=[sys.executable, "-c", "raise SystemExit(3)"], background=True)
    watched = Watched(part("a", SERVING), broken)
    watched.run_until_said("late ended unexpectedly (exit code 3)")
    assert watched.ready == 1


def test_a_part_that_dies_is_started_again_and_said_to_be_back(tmp_path: Path) -> None:
    once = tmp_path / "once"
    dying = f"""
import os, sys, pathlib
first = not pathlib.Path({str(once)!r}).exists()
pathlib.Path({str(once)!r}).touch()
print('ready', flush=True)
os.kill(os.getpid(), 9) if first else sys.stdin.read()
"""
    watched = Watched(part("a", dying), part("b", SERVING))
    watched.run(then="wait")
    assert "a ended unexpectedly (killed by SIGKILL)" in watched.said[0]
    assert watched.said[1] == "a is back"


def test_a_part_that_cannot_start_fails_the_whole() -> None:
    watched = Watched(part("good", SERVING), part("bad", "raise SystemExit(2)"))
    with pytest.raises(CommandFailed, match=r"bad could not start \(exit code 2\)"):
        watched.run(then="wait")
    assert watched.ready == 0


def test_a_folder_in_use_names_the_process(tmp_path: Path) -> None:
    async def body() -> None:
        held = await lock_data(tmp_path, SystemClock())
        with pytest.raises(CommandFailed, match=rf"process {os.getpid()}\).*--data"):
            await lock_data(tmp_path, SystemClock())
        os.close(held)
        os.close(await lock_data(tmp_path, SystemClock()))

    asyncio.run(body())


def test_a_folder_held_by_parts_of_a_dead_supervisor_is_waited_for(tmp_path: Path) -> None:
    async def body() -> None:
        held = await lock_data(tmp_path, SystemClock())
        gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
        await gone.wait()
        os.ftruncate(held, 0)
        os.pwrite(held, str(gone.pid).encode(), 0)
        asyncio.get_running_loop().call_later(0.2, os.close, held)
        os.close(await lock_data(tmp_path, SystemClock()))

    asyncio.run(body())


def test_a_taken_port_names_a_free_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = LOOPBACK._replace(port=server.getsockname()[1])
        assert not is_free(taken)
        free = free_after(taken)
        assert is_free(free)
        with pytest.raises(CommandFailed, match=r"is taken.*--kafka 127\.0\.0\.1:\d+"):
            chosen(taken, option="--kafka")


def test_port_zero_is_replaced_by_a_free_one() -> None:
    assert chosen(LOOPBACK, option="--kafka").port > 0
    assert is_free(any_free(LOOPBACK))
