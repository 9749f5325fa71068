"""The broker processes of a running `lakestream up`, seen from the operating system."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.up_process import Up

_ID_SETTING = b"broker.id="


def broker_pids(up: Up) -> dict[int, int]:
    """Process ids by broker id."""
    found: dict[int, int] = {}
    for task in Path(f"/proc/{up.process.pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            ids = [word.removeprefix(_ID_SETTING) for word in words if word.startswith(_ID_SETTING)]
            if b"broker" in words and ids:
                found[int(ids[-1])] = int(child)
    return found


@contextmanager
def paused(pid: int, seconds: float) -> Iterator[None]:
    """SIGSTOP, the block, and what is left of `seconds`; then SIGCONT."""
    os.kill(pid, signal.SIGSTOP)
    until = time.monotonic() + seconds
    try:
        yield
        time.sleep(max(0.0, until - time.monotonic()))
    finally:
        os.kill(pid, signal.SIGCONT)


def forget_peak(pid: int) -> None:
    """From now on `peak_bytes` counts anew (proc(5), clear_refs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def peak_bytes(pid: int) -> int:
    """The most memory that the process has had at once."""
    return _status_bytes(pid, "VmHWM")


def resident_bytes(pid: int) -> int:
    return _status_bytes(pid, "VmRSS")


def _status_bytes(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [kilobytes] = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return int(kilobytes) * 1024
