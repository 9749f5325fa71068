"""A broker that runs as a process of its own, and what it costs while it runs.

    with a_broker(...) as server:        server.bootstrap -> clients
        with PeakMemory(server.pid):     server.cpu_s()   -> before and after

CPU and memory are those of the whole process tree, so that a supervisor with children is
counted like a single process.
"""

import os
import signal
import socket
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

STOP_S_MAX = 30  # a drain may flush and commit; past this the server hangs and is killed
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running broker: where clients find it and which process it is."""

    name: str
    version: str
    bootstrap: str
    process: "subprocess.Popen[bytes]"
    log: Path
    http: str | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    def cpu_s(self) -> float:
        return cpu_s(self.pid)

    def stop(self) -> int:
        """Ask it to stop, wait, and return its exit code; kill it when it does not listen."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(STOP_S_MAX)

    def last_words(self, lines: int = 30) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


@dataclass(slots=True)
class PeakMemory:
    """The greatest resident memory of a process tree between enter and exit, sampled."""

    pid: int
    bytes: int = 0
    every_s: float = 0.1
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> "PeakMemory":
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while True:
            self.bytes = max(self.bytes, resident_bytes(self.pid))
            if self._stop.wait(self.every_s):
                return


def free_ports(count: int) -> list[int]:
    """Ports that nobody uses now. They are held together, so that they differ."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def process_tree(pid: int) -> list[int]:
    """The process and all its living descendants."""
    found = [pid]
    for each in found:
        try:
            tasks = list(Path(f"/proc/{each}/task").iterdir())
            for task in tasks:
                found += [int(child) for child in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we looked
    return found


def cpu_s(pid: int) -> float:
    """User and system seconds of the tree, including children that have ended and were waited for."""
    return sum(process_cpu_s(each) for each in process_tree(pid))


def process_cpu_s(pid: int) -> float:
    """The same of one process, with those of its children that have ended."""
    return sum(map(int, _stat(pid)[11:15])) / TICKS_PER_S


def resident_bytes(pid: int) -> int:
    return sum(int(_stat(each)[21]) for each in process_tree(pid)) * PAGE_BYTES


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat after the command name (field 3 of proc(5) comes first); zeros for a dead process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["0"] * 50
