"""Apache Kafka, stock: fetched by Maven coordinates, formatted with KRaft, run as one process.

    fetch (first use only) -> format a fresh folder -> start -> Server -> stop

The settings are those of the distribution's own config/server.properties and its start scripts;
only addresses and folders are ours. The jars also serve the compatibility checks: they hold the
Java client and the Java tools.
"""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.peers import maven
from benchmarks.peers.maven import FETCH_S_MAX, Unavailable, program
from benchmarks.peers.server import Server, free_ports

__all__ = ["CACHE", "FETCH_S_MAX", "LOG4J", "VERSION", "Unavailable", "fetch", "java", "program", "running"]

VERSION = "4.3.1"
SCALA = "2.13"
LOG4J = "2.25.2"
CACHE = maven.CACHE / f"kafka-{VERSION}"

START_S_MAX = 60
JVM = [  # bin/kafka-server-start.sh and bin/kafka-run-class.sh
    *("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true"),
]

COORDINATES = [
    f"org.apache.kafka:kafka_{SCALA}:{VERSION}",
    f"org.apache.kafka:kafka-tools:{VERSION}",
    f"org.apache.logging.log4j:log4j-slf4j-impl:{LOG4J}",
]

LOG4J2 = """<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="error">
<Appenders><Console name="C" target="SYSTEM_ERR"><PatternLayout pattern="[%d] %p %m (%c)%n"/></Console></Appenders>
<Loggers><Root level="${sys:loglevel:-info}"><AppenderRef ref="C"/></Root></Loggers>
</Configuration>
"""

SERVER_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs={logs}
num.partitions=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
"""


def fetch() -> Path:
    """The folder of Kafka's jars, fetched on first use."""
    logging = CACHE / "log4j2.xml"
    if not logging.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        logging.write_text(LOG4J2)
    return maven.fetch(CACHE, COORDINATES)


def java(*, heap: str = "256M", loglevel: str = "error") -> list[str]:
    """The start of a command line that runs a class of Kafka's jars."""
    libs = fetch()
    flags = [f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Dloglevel={loglevel}"]
    return [program("java"), *flags, f"-Dlog4j2.configurationFile={CACHE / 'log4j2.xml'}", "-cp", f"{libs}/*"]


@contextmanager
def running(folder: Path, *, more_properties: str = "") -> Iterator[Server]:
    """A fresh single-node broker with its data under `folder`; the caller removes the folder."""
    port, controller = free_ports(2)
    folder.mkdir(parents=True, exist_ok=True)
    properties = folder / "server.properties"
    ours = SERVER_PROPERTIES.format(port=port, controller=controller, logs=folder / "logs")
    properties.write_text(ours + more_properties)
    _format(properties)
    server = _start(properties, f"127.0.0.1:{port}", folder / "server.log")
    try:
        yield server
    finally:
        server.stop()


def _format(properties: Path) -> None:
    tool = [*java(), "kafka.tools.StorageTool"]
    cluster_id = subprocess.run([*tool, "random-uuid"], capture_output=True, text=True, check=True).stdout.split()[-1]
    command = [*tool, "format", "--standalone", "-t", cluster_id, "-c", str(properties)]
    subprocess.run(command, capture_output=True, check=True)


def _start(properties: Path, bootstrap: str, log: Path) -> Server:
    command = [program("java"), *JVM, f"-Dlog4j2.configurationFile={CACHE / 'log4j2.xml'}"]
    command += ["-cp", f"{fetch()}/*", "kafka.Kafka", str(properties)]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    server = Server(name="Apache Kafka", version=VERSION, bootstrap=bootstrap, process=process, log=log)
    deadline = time.monotonic() + START_S_MAX
    while b"Kafka Server started" not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            words = server.last_words()
            server.stop()
            raise Unavailable(f"Apache Kafka did not start:\n{words}")
        time.sleep(0.05)
    return server
