"""`lakestream broker` and `lakestream gateway` as an operator runs them: a process each, over shared stores."""

import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.integration.up_process import START_SECONDS_MAX, environment
from tests.ports import free_address


class Part:
    """One process, started; `wait_until_ready` before using it."""

    def __init__(self, folder: Path, name: str, *arguments: str) -> None:
        self.name = name
        self._said = folder / f"{name}-{time.monotonic_ns()}.stderr"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lakestream", *arguments],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._said.open("a"),
        )

    def said(self) -> str:
        return self._said.read_text()

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS_MAX
        while " ready" not in self.said():
            assert self.process.poll() is None, f"{self.name} ended:\n{self.said()}"
            assert time.monotonic() < deadline, f"{self.name} is not ready:\n{self.said()}"
            time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(START_SECONDS_MAX)


class Cluster:
    """Brokers and a gateway over the same settings. Everything is killed in the end."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._folder = folder
        self._flags = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
        self.parts: dict[str, Part] = {}
        self.kafka: dict[int, str] = {}
        self.http = ""

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        for part in self.parts.values():
            part.kill()

    def broker(self, number: int, *, rack: str) -> Part:
        address = self.kafka.setdefault(number, free_address())
        flags = ["--id", str(number), "--kafka", address, "--set", f"broker.rack={rack}", *self._flags]
        return self._started(Part(self._folder, f"broker-{number}", "broker", *flags))

    def gateway(self) -> Part:
        self.http = free_address()
        return self._started(Part(self._folder, "gateway", "gateway", "--http", self.http, *self._flags))

    @property
    def bootstrap(self) -> str:
        return ",".join(self.kafka.values())

    def _started(self, part: Part) -> Part:
        self.parts[part.name] = part
        return part


def http_status(address: str, path: str) -> tuple[int, str]:
    """Status and body, of failures too."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"http://{address}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
