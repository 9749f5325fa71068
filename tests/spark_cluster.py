"""A Spark standalone cluster on this machine: a master and workers, each in a session of processes of its own, so
that a worker can die as a whole machine does: with its executors and their Python.

    with spark_cluster(folder, machines=2) as cluster:
        cluster.master                    spark://127.0.0.1:PORT
        cluster.machines[0].kill()
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from tests.ports import free_port

HOST = "127.0.0.1"
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
DEPLOY = "org.apache.spark.deploy"
CORES = 2
"""Of each machine, whatever this one has: one for each of two applications."""
CONF = {
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.executor.memory": "512m",
    "spark.cores.max": "2",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""An application gets one core of each of two machines, as standalone clusters spread them out."""
_SECONDS_MAX = 120
_QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.master.rest.enabled=false"


@dataclass(frozen=True, slots=True)
class Machine:
    """One worker of the cluster."""

    process: subprocess.Popen[bytes]
    folder: Path
    """The logs of its executors lie below."""

    def tasks(self, what: str) -> int:
        """How many tasks its executors logged as `Running` or `Finished`."""
        wanted = re.compile(rf"{what} task \S+ in stage")
        return sum(len(wanted.findall(log.read_text(errors="replace"))) for log in self.folder.glob("app-*/*/stderr"))

    def freeze_python(self) -> None:
        """The Python processes of its executors stop where they are. Tasks that are given to them do not end."""
        pythons = [pid for pid in self._pids() if b"worker_daemon" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        assert pythons, "its executors have started Python"
        for pid in pythons:
            os.kill(pid, signal.SIGSTOP)

    def kill(self) -> None:
        for pid in self._pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def _pids(self) -> list[int]:
        """All processes of its session."""
        return [
            pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _session(pid) == self.process.pid
        ]


@dataclass(frozen=True, slots=True)
class SparkCluster:
    master: str
    machines: tuple[Machine, ...]


@contextmanager
def spark_cluster(folder: Path, *, machines: int) -> Iterator[SparkCluster]:
    """Ready when every machine is registered."""
    port = free_port()
    address = f"spark://{HOST}:{port}"
    started: list[Machine] = []
    try:
        log = folder / "master.log"
        _start(started, folder / "master", log, "master.Master", "--port", str(port))
        _wait_for(lambda: "I have been elected leader" in log.read_text(), log)
        for number in range(machines):
            own = folder / f"worker-{number}"
            size = ["--cores", str(CORES), "--memory", "2g", "--work-dir", str(own)]
            _start(started, own, folder / f"worker-{number}.log", "worker.Worker", *size, address)
        for number in range(machines):
            worker_log = folder / f"worker-{number}.log"
            _wait_for(lambda log=worker_log: "Successfully registered with master" in log.read_text(), worker_log)  # type: ignore[misc]
        yield SparkCluster(address, tuple(started[1:]))
    finally:
        for one in started:
            one.kill()


def _start(started: list[Machine], folder: Path, log: Path, what: str, *arguments: str) -> None:
    folder.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    environment |= {
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": _QUICK_JAVA,
        "PYSPARK_PYTHON": sys.executable,
    }
    command = [str(SPARK_CLASS), f"{DEPLOY}.{what}", "--host", HOST, "--webui-port", "0", *arguments]
    with log.open("wb") as said:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=said, stderr=said, start_new_session=True
        )
    started.append(Machine(process, folder))


def _wait_for(done: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + _SECONDS_MAX
    while not done():
        assert time.monotonic() < deadline, f"Spark's cluster did not start:\n{log.read_text()[-2_000:]}"
        time.sleep(0.1)


def _session(pid: int) -> int | None:
    """The number of the session that a process belongs to."""
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return None
