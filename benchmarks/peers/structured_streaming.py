"""Spark Structured Streaming as a peer: the process that runs streaming_job.py, and what its runs cost."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from benchmarks.peers.maven import Unavailable
from benchmarks.peers.server import cpu_s
from benchmarks.report import ROOT
from benchmarks.taken import Taken

STOP_S_MAX = 60


class StructuredStreaming:
    def __init__(self, process: "subprocess.Popen[str]", folder: Path, log: Path) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._asks: IO[str] = process.stdin
        self._answers: IO[str] = process.stdout
        self._folder = folder
        self._log = log

    def create_table(self, table: str, kind: str) -> None:
        self._ask({"kind": kind, "create": table})

    def catch_up(self, topic: str, table: str, records: int, kind: str) -> Taken:
        """One run over all of the topic, into a table of its own."""
        before_s = cpu_s(self._process.pid)
        checkpoint = str(self._folder / f"checkpoint-{table}")
        answer = self._ask({"kind": kind, "topic": topic, "table": table, "checkpoint": checkpoint})
        if answer["rows"] != records:
            raise Unavailable(f"Structured Streaming wrote {answer['rows']} of {records} rows")
        return Taken(wall_s=answer["wall_s"], cpu_s=cpu_s(self._process.pid) - before_s)

    def _ask(self, asked: dict[str, str]) -> dict[str, Any]:
        self._asks.write(json.dumps(asked) + "\n")
        self._asks.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        line = self._answers.readline()
        if not line:
            raise Unavailable(f"the Structured Streaming job ended:\n{self._log.read_text(errors='replace')[-2000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def running(bootstrap: str, folder: Path) -> Iterator[StructuredStreaming]:
    """Its session is open when this yields. Tables lie in `folder`/warehouse, in a Hadoop catalog."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "streaming.log"
    command = [sys.executable, "-m", "benchmarks.peers.streaming_job", bootstrap, str(folder / "warehouse")]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT
        )
    try:
        peer = StructuredStreaming(process, folder, log)
        peer.answer()
        yield peer
    finally:
        assert process.stdin is not None
        process.stdin.close()  # the end of its orders is the end of the job
        try:
            process.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
