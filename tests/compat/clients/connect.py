"""Kafka Connect in distributed mode: one worker, from Maven Central, administered by its REST interface."""

import http.client
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.peers import kafka
from benchmarks.peers.server import free_ports

CACHE = kafka.CACHE.with_name(f"connect-{kafka.VERSION}")
START_S_MAX = 60
ANSWER_S_MAX = 30

_PARTS = ("connect-runtime", "connect-file", "connect-json")
POM = f"""<project><modelVersion>4.0.0</modelVersion>
<groupId>peers</groupId><artifactId>connect</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
{
    "".join(
        f"<dependency><groupId>org.apache.kafka</groupId><artifactId>{part}</artifactId>"
        f"<version>{kafka.VERSION}</version></dependency>"
        for part in _PARTS
    )
}
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>{
    kafka.LOG4J
}</version></dependency>
</dependencies></project>
"""

WORKER = """bootstrap.servers={bootstrap}
group.id={name}
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.storage.StringConverter
offset.storage.topic={name}-offsets
offset.storage.replication.factor=1
offset.storage.partitions=2
config.storage.topic={name}-configs
config.storage.replication.factor=1
status.storage.topic={name}-status
status.storage.replication.factor=1
status.storage.partitions=2
offset.flush.interval.ms=500
session.timeout.ms=6000
heartbeat.interval.ms=1000
scheduled.rebalance.max.delay.ms=0
consumer.session.timeout.ms=6000
consumer.heartbeat.interval.ms=1000
listeners=http://127.0.0.1:{port}
plugin.discovery=service_load
"""


class Worker:
    def __init__(self, port: int) -> None:
        self._port = port

    def put_connector(self, name: str, config: Mapping[str, str]) -> None:
        status, said = self._ask("PUT", f"/connectors/{name}/config", dict(config))
        assert status in (200, 201), said

    def is_up(self) -> bool:
        try:
            return self._ask("GET", "/connectors")[0] == http.client.OK
        except OSError:
            return False

    def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_S_MAX)
        try:
            connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def fetch() -> Path:
    """The folder of Connect's jars, fetched on first use."""
    libs = CACHE / "libs"
    if libs.is_dir():
        return libs
    kafka.fetch()  # for its logging configuration
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / "pom.xml").write_text(POM)
    arriving = CACHE / f"libs.{os.getpid()}"  # renamed when whole
    command = [kafka.program("mvn"), "-q", "-B", "-f", str(CACHE / "pom.xml"), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={arriving}"]
    fetched = subprocess.run(command, capture_output=True, text=True, timeout=kafka.FETCH_S_MAX)
    if fetched.returncode:
        raise kafka.Unavailable(f"Maven could not fetch Kafka Connect: {(fetched.stdout or fetched.stderr)[-400:]}")
    if not libs.is_dir():
        arriving.rename(libs)
    return libs


@contextmanager
def worker(bootstrap: str, name: str, folder: Path, *, template: str = WORKER) -> Iterator[Worker]:
    """A worker of the cluster `name`, whose properties `template` gives. At the end it is killed, so that it can tell
    nobody."""
    [port] = free_ports(1)
    properties, log = folder / f"{name}-{port}.properties", folder / f"{name}-{port}.log"
    properties.write_text(template.format(bootstrap=bootstrap, name=name, port=port))
    command = [*kafka.java(loglevel="warn")[:-1], f"{fetch()}/*"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "org.apache.kafka.connect.cli.ConnectDistributed", str(properties)], stdout=out, stderr=out
        )
    try:
        running, deadline = Worker(port), time.monotonic() + START_S_MAX
        while not running.is_up():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-4000:]
            time.sleep(0.2)
        yield running
    finally:
        process.kill()
        process.wait(10)
