"""Lakestream as a user runs it: `lakestream up` in a fresh folder, ready line awaited, drained by SIGTERM."""

import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from benchmarks.peers.server import Server, free_ports
from lakestream import __version__

START_S_MAX = 60  # the first start on a machine may compile Numba functions
READY = re.compile(rb"lakestream ready +kafka=(?P<kafka>\S+) +http=(?P<http>\S+)")


class DidNotStart(Exception):
    """`lakestream up` ended or stayed silent; the message carries its last words."""


def program() -> str:
    """The command `lakestream` of this environment."""
    return str(Path(sys.executable).parent / "lakestream")


@contextmanager
def running(folder: Path, *flags: str, pipeline: bool = False) -> Iterator[Server]:
    """`lakestream up` with its data under `folder`; yields when it is ready, stops it at the end. The log alone, unless
    a pipeline is asked for."""
    kafka, http = free_ports(2)
    folder.mkdir(parents=True, exist_ok=True)
    command = [program(), "up", "--data", str(folder / "data")]
    command += ["--kafka", f"127.0.0.1:{kafka}", "--http", f"127.0.0.1:{http}", *flags]
    command += [] if pipeline else ["--no-pipeline"]
    log = folder / "server.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
    try:
        ready = _await_ready(process, log)
        yield Server(
            name="Lakestream",
            version=__version__,
            bootstrap=ready["kafka"].decode(),
            http=ready["http"].decode(),
            process=process,
            log=log,
        )
    finally:
        if process.poll() is None:
            Server(name="Lakestream", version=__version__, bootstrap="", process=process, log=log).stop()


def _await_ready(process: "subprocess.Popen[bytes]", log: Path) -> dict[str, bytes]:
    lines: queue.Queue[bytes] = queue.Queue()
    assert process.stdout is not None
    threading.Thread(target=_drain, args=(process.stdout, lines), daemon=True).start()
    said = b""
    while True:
        try:
            line = lines.get(timeout=START_S_MAX)
        except queue.Empty:
            line = b""
        said += line
        if ready := READY.search(line):
            return ready.groupdict()
        if not line:
            words = said.decode(errors="replace") + log.read_text(errors="replace")[-4000:]
            raise DidNotStart(f"lakestream up was not ready within {START_S_MAX} s or ended; it said:\n{words}")


def _drain(stream: IO[bytes], lines: "queue.Queue[bytes]") -> None:
    """Read to the end, so that the server never blocks on a full pipe; an empty line marks the end."""
    for line in stream:
        lines.put(line)
    lines.put(b"")
