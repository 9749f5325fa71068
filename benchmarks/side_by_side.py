"""Lakestream and Apache Kafka, both running, each on fresh data on the disk of the project."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import kafka, lakestream
from benchmarks.peers.server import Server
from benchmarks.report import ROOT

PEERS = {"lakestream": lakestream.running, "kafka": kafka.running}


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """The servers, and the folder under which their data lies."""

    servers: list[Server]
    folder: Path


@contextmanager
def side_by_side(*, only: str | None = None) -> Iterator[SideBySide]:
    """Starts both, or the one named; stops them and removes their data at the end."""
    # Not in the system's temporary folder: that may be memory, and its fsync costs nothing.
    parent = ROOT / ".cache"
    parent.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=parent))
    try:
        with ExitStack() as stack:
            chosen = [name for name in PEERS if only in (None, name)]
            servers = [stack.enter_context(PEERS[name](folder / name)) for name in chosen]
            yield SideBySide(servers=servers, folder=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
