"""`lakestream up` as a user runs it: a process of its own, its ready line, its commands, its end."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from lakestream.cli.main import main
from tests.ports import free_address

ROOT = Path(__file__).parents[2]
READY = re.compile(r"^lakestream ready  kafka=(\S+)  http=https?://(\S+)$")
START_SECONDS_MAX = 60
"""Generous: a start with cold caches compiles the record kernels."""


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LAKESTREAM_")}
    return {**kept, "PYTHONPATH": str(ROOT)}


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def lakestream(*arguments: str, text: str = "") -> Done:
    """Run a command to its end, as a process."""
    done = subprocess.run(
        [sys.executable, "-m", "lakestream", *arguments],
        input=text,
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=START_SECONDS_MAX,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def command(*arguments: str, text: str = "") -> Done:
    """Run a client command to its end, in this process: loading it anew each time would take most of the time."""
    out, err = io.StringIO(), io.StringIO()
    stdin, argv = sys.stdin, sys.argv
    sys.stdin, sys.argv = io.TextIOWrapper(io.BytesIO(text.encode())), ["lakestream", *arguments]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as exited:
        return Done(int(exited.code or 0), out.getvalue(), err.getvalue())
    finally:
        sys.stdin, sys.argv = stdin, argv
    raise AssertionError("a command always exits")


@contextmanager
def follow(up: "Up", topic: str) -> "Iterator[subprocess.Popen[str]]":
    """`consume --follow`, as a process whose output is read along."""
    arguments = ["consume", topic, "--follow", "--kafka", up.kafka]
    with subprocess.Popen(
        [sys.executable, "-m", "lakestream", *arguments],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


class Up:
    """Started and ready. Ports are free ones, unless `flags` name others. Without `pipeline` there is no Spark."""

    def __init__(self, data: Path, *flags: str, pipeline: bool = False) -> None:
        self.data = data
        self._said = data.with_suffix(".stderr")
        named = [] if "--kafka" in flags else ["--kafka", free_address()]
        named += [] if pipeline else ["--no-pipeline"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lakestream", "up", "--data", str(data), *named, "--http", free_address(), *flags],
            cwd=data.parent,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=self._said.open("a"),
            text=True,
        )
        assert self.process.stdout is not None
        self.ready_line = self.process.stdout.readline().rstrip("\n")
        found = READY.match(self.ready_line)
        assert found is not None, f"no ready line but {self.ready_line!r}; it said:\n{self.said()}"
        self.kafka, self.http = found[1], found[2]

    def __enter__(self) -> "Up":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def said(self) -> str:
        return self._said.read_text()

    def run(self, *arguments: str, text: str = "") -> str:
        """A client command against it; its output. `--kafka` or `--http` is added."""
        where = (
            ["--http", self.http] if arguments[0] in ("status", "compact") else ["--kafka", self.kafka.split(",")[0]]
        )
        done = command(*arguments, *where, text=text)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def status(self) -> Any:
        return json.loads(self.run("status", "--json"))

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=START_SECONDS_MAX)

    def children(self) -> dict[str, int]:
        """Process ids by the command that runs in them ('broker', 'gateway')."""
        found: dict[str, int] = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                command = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
                if b"lakestream" in command:
                    found[command[command.index(b"lakestream") + 1].decode()] = int(child)
        return found

    def wait_until_said(self, text: str) -> None:
        deadline = time.monotonic() + START_SECONDS_MAX
        while text not in self.said():
            assert time.monotonic() < deadline, f"never said {text!r} but:\n{self.said()}"
            time.sleep(0.05)
