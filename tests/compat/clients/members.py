"""Members of groups: a process for each, of the program in tests/compat/members, java or kafkajs."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers import kafka

from .kafkajs import SOURCE as KAFKAJS
from .kafkajs import install
from .remote import Remote

ROOT = Path(__file__).resolve().parents[3]
JAVA = Path(__file__).resolve().parent.parent / "java"
CLASSES = ROOT / ".cache" / "compat-classes"
COMPILE_S_MAX = 120
SETTLE_S_MAX = 60
"""Longer than the 45 s after which Apache Kafka, as it comes, gives up a member of the newer protocol."""


class Flavour(NamedTuple):
    """A client library and how its members find their partitions: eager, cooperative, or led by the broker."""

    client: str
    protocol: str

    @property
    def is_gradual(self) -> bool:
        """Members keep what they need not give up."""
        return self.protocol != "eager"


class Member:
    def __init__(self, process: Remote) -> None:
        self._process = process

    @property
    def assignment(self) -> set[int]:
        return set(self._process.ask("state")["assignment"])

    @property
    def records(self) -> list[tuple[int, int]]:
        """(partition, offset) of everything it has read."""
        return [(partition, offset) for partition, offset in self._process.ask("state")["records"]]

    @property
    def revoked(self) -> list[int]:
        """Every partition that was ever taken from it."""
        return list(self._process.ask("state")["revoked"])

    def commit(self) -> None:
        self._process.ask("commit")

    def commit_async(self) -> None:
        self._process.ask("commit_async")

    def committed(self) -> dict[int, int]:
        return {int(partition): offset for partition, offset in self._process.ask("committed").items()}

    def lag(self) -> dict[int, int]:
        return {int(partition): lag for partition, lag in self._process.ask("lag").items()}

    def seek(self, partition: int, offset: int) -> None:
        self._process.ask("seek", partition=partition, offset=offset)

    def pause(self, *partitions: int) -> None:
        self._process.ask("pause", partitions=partitions)

    def resume(self, *partitions: int) -> None:
        self._process.ask("resume", partitions=partitions)

    def leave(self) -> None:
        self._process.ask("close")
        self._process.close()

    def kill(self) -> None:
        self._process.kill()


def start_member(
    flavour: Flavour, bootstrap: str, group: str, topic: str, *, session_ms: int, instance: str | None = None
) -> Member:
    """Raises Unavailable where this machine lacks a program."""
    options = {
        "bootstrap": bootstrap,
        "group": group,
        "topic": topic,
        "flavour": flavour.protocol,
        "instance": instance,
        "session_ms": session_ms,
    }
    command = [*COMMANDS[flavour.client](), json.dumps(options), *_more(flavour.client)]
    return Member(Remote(flavour.client, command, cwd=ROOT, null_header_values=False))


def until(settled: Callable[[], bool], what: Callable[[], Any]) -> None:
    deadline = time.monotonic() + SETTLE_S_MAX
    while not settled():
        assert time.monotonic() < deadline, f"it did not settle within {SETTLE_S_MAX} s: {what()}"
        time.sleep(0.1)


def until_shared(members: Sequence[Member], partitions: Iterable[int]) -> None:
    """Everyone has some, together they have all, nobody has another's."""
    everything = sorted(partitions)

    def shared() -> bool:
        assigned = [member.assignment for member in members]
        return all(assigned) and sorted(each for one in assigned for each in one) == everything

    until(shared, lambda: [member.assignment for member in members])


def _python(module: str) -> list[str]:
    return [sys.executable, "-m", f"tests.compat.members.{module}"]


@cache
def _java() -> list[str]:
    """Compiled once: a member starts in a second instead of three."""
    CLASSES.mkdir(parents=True, exist_ok=True)
    java = kafka.java()
    jars = java[-1]
    command = [kafka.program("javac"), "-d", str(CLASSES), "-cp", jars, str(JAVA / "Member.java")]
    subprocess.run(command, check=True, timeout=COMPILE_S_MAX, capture_output=True)
    return [*java[:-1], f"{CLASSES}:{jars}", "Member"]


def _more(client: str) -> list[str]:
    return [str(install())] if client == "kafkajs" else []


COMMANDS: dict[str, Callable[[], list[str]]] = {
    "confluent-kafka": lambda: _python("confluent_member"),
    "kafka-python": lambda: _python("kafka_python_member"),
    "aiokafka": lambda: _python("aiokafka_member"),
    "kafkajs": lambda: [kafka.program("node"), str(KAFKAJS / "member.js")],
    "java": _java,
}
