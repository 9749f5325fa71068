"""Lakestream and Apache Kafka, both running, each on fresh data on the disk of the project."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import kafka, lakestream
from benchmarks.peers.server import Server
from benchmarks.scratch import scratch_folder

PEERS = {"lakestream": lakestream.running, "kafka": kafka.running}


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """The servers, and the folder under which their data lies."""

    servers: list[Server]
    folder: Path


@contextmanager
def side_by_side(*, only: str | None = None) -> Iterator[SideBySide]:
    """Starts both, or the one named; stops them and removes their data at the end."""
    with scratch_folder() as folder, ExitStack() as stack:
        chosen = [name for name in PEERS if only in (None, name)]
        servers = [stack.enter_context(PEERS[name](folder / name)) for name in chosen]
        yield SideBySide(servers=servers, folder=folder)
