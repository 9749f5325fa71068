"""Members of share groups: a process of ShareWorker.java for each."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers import kafka

from .members import CLASSES, COMPILE_S_MAX, JAVA, ROOT
from .remote import Remote


class Delivered(NamedTuple):
    partition: int
    offset: int
    deliveries: int


class Worker:
    def __init__(self, process: Remote) -> None:
        self._process = process

    @property
    def records(self) -> list[Delivered]:
        return [Delivered(*one) for one in self._process.ask("state")]

    def leave(self) -> list[Delivered]:
        """Everything it was given."""
        records = [Delivered(*one) for one in self._process.ask("close")]
        self._process.close()
        return records

    def kill(self) -> None:
        self._process.kill()


def start_worker(bootstrap: str, group: str, topic: str, habit: str = "accept", *, records: int = 10) -> Worker:
    """`habit`: what it does with every record: accept, release, reject, or hold until it is killed. Raises Unavailable
    where this machine lacks a program."""
    options = {"bootstrap": bootstrap, "group": group, "topic": topic, "habit": habit, "records": records}
    return Worker(Remote("java", [*_java(), json.dumps(options)], cwd=ROOT, null_header_values=False))


@cache
def _java() -> list[str]:
    CLASSES.mkdir(parents=True, exist_ok=True)
    java = kafka.java()
    jars = java[-1]
    source = Path(JAVA) / "ShareWorker.java"
    command = [kafka.program("javac"), "-d", str(CLASSES), "-cp", jars, str(source)]
    subprocess.run(command, check=True, timeout=COMPILE_S_MAX, capture_output=True)
    return [*java[:-1], f"{CLASSES}:{jars}", "ShareWorker"]
