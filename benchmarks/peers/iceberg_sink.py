"""The Iceberg sink of Kafka Connect as a peer: a worker, and a connector for each run.

    PUT connector -> consumers join -> rows are written, commits follow -> the table has all rows -> DELETE connector

It runs in two ways. `HELPED`: a standing worker, warm; tables and control topics are made beforehand, commits are asked
for every two seconds and offsets flushed twice a second. `AS_IT_COMES`: a worker of its own for one run, with the
settings that one starts with; it makes its table and its control topic itself, and commits as often as Lakestream does.
It is counted from the start of its process.

Connect has no converter for raw records, so single-message transforms make a row of each: the value as bytes, with
offset, partition and time beside it. The key is left out, since no transform brings it along. JSON goes through
Connect's own converter, a column for each field.
"""

import http.client
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.clients import create_topic
from benchmarks.peers import kafka, maven
from benchmarks.peers.server import cpu_s, free_ports
from benchmarks.taken import Taken

ICEBERG = "1.12.0"
HADOOP = "3.4.2"
SINK = [
    *(f"org.apache.iceberg:iceberg-{part}:{ICEBERG}" for part in ("kafka-connect", "kafka-connect-events", "core")),
    *(f"org.apache.iceberg:iceberg-{part}:{ICEBERG}" for part in ("data", "parquet")),
    *(f"org.apache.hadoop:hadoop-client-{part}:{HADOOP}" for part in ("api", "runtime")),
]
CONNECT = [
    *(f"org.apache.kafka:connect-{part}:{kafka.VERSION}" for part in ("runtime", "json", "transforms")),
    f"org.apache.logging.log4j:log4j-slf4j-impl:{kafka.LOG4J}",
]
TASKS = 2
START_S_MAX = 60
POLL_S = 0.1

WORKER = """bootstrap.servers={bootstrap}
key.converter=org.apache.kafka.connect.converters.ByteArrayConverter
value.converter=org.apache.kafka.connect.converters.ByteArrayConverter
offset.storage.file.filename={folder}/offsets
listeners=http://127.0.0.1:{port}
plugin.path={plugins}
consumer.max.partition.fetch.bytes=8388608
consumer.max.poll.records=10000
offset.flush.interval.ms={flush_ms}
"""


VALUES = {
    "raw": {
        "transforms": "hoist,place",
        "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoist.field": "value",
        "transforms.place.type": "org.apache.kafka.connect.transforms.InsertField$Value",
        "transforms.place.offset.field": "offset",
        "transforms.place.partition.field": "partition",
        "transforms.place.timestamp.field": "timestamp",
    },
    "json": {
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    flush_ms: int
    """Tasks look for what the coordinator asks only between polls, and a poll waits up to that long for records: with
    the default of a minute, a topic that has been read to its end is never committed (apache/iceberg#17193)."""
    connector: dict[str, str]
    makes_its_own: bool
    """Table and control topic. Its tasks race to create the table, and the first commits wait for the topic."""
    counts_its_start: bool


HELPED = Setup(
    flush_ms=500,
    connector={
        "iceberg.control.commit.interval-ms": "2000",
        "iceberg.control.commit.timeout-ms": "5000",  # 30 s by default, and the first commit is often missed
    },
    makes_its_own=False,
    counts_its_start=False,
)
AS_IT_COMES = Setup(
    flush_ms=10_000,
    connector={
        "iceberg.control.commit.interval-ms": "10000",  # as old as a record gets before Lakestream brings it in
        "iceberg.tables.auto-create-enabled": "true",
        "iceberg.tables.evolve-schema-enabled": "true",
    },
    makes_its_own=True,
    counts_its_start=True,
)


class Caught(NamedTuple):
    taken: Taken
    best_records_s: float
    """Between two commits that follow each other: without the stalls."""
    rows: int
    """Fewer than there are, where the run did not end in time."""


class IcebergSink:
    def __init__(
        self, process: "subprocess.Popen[bytes]", port: int, bootstrap: str, warehouse: Path, setup: Setup
    ) -> None:
        self._started = time.monotonic()
        self._process = process
        self._setup = setup
        self._bootstrap = bootstrap
        self._port = port
        self._warehouse = warehouse

    def catch_up(self, topic: str, table: str, records: int, kind: str, *, seconds_max: float) -> Caught:
        """All of the topic into a table, which is empty, or is not there yet where the sink makes its own."""
        if not self._setup.makes_its_own:
            create_topic(self._bootstrap, f"control-{table}", 1)
        before_s, started = (
            (0.0, self._started) if self._setup.counts_its_start else (cpu_s(self._process.pid), time.monotonic())
        )
        self._ask("PUT", f"/connectors/{table}/config", self._config(topic, table) | VALUES[kind])
        commits = [(started, 0)]
        while commits[-1][1] < records and time.monotonic() < started + seconds_max:
            time.sleep(POLL_S)
            rows = rows_of_hadoop_table(self._warehouse / "db" / table)
            if rows != commits[-1][1]:
                commits.append((time.monotonic(), rows))
        wall_s, rows = time.monotonic() - started, commits[-1][1]
        taken = Taken(wall_s=wall_s, cpu_s=cpu_s(self._process.pid) - before_s)
        self._ask("DELETE", f"/connectors/{table}")
        rates = [(after[1] - before[1]) / (after[0] - before[0]) for before, after in pairwise(commits)]
        return Caught(taken, max(rates, default=0.0), rows)

    def is_up(self) -> bool:
        try:
            return self._ask("GET", "/connectors")[0] == http.client.OK
        except (OSError, maven.Unavailable):  # its paths come after its port
            return False

    def _config(self, topic: str, table: str) -> dict[str, str]:
        return {
            "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
            "tasks.max": str(TASKS),
            "topics": topic,
            "iceberg.tables": f"db.{table}",
            "iceberg.catalog.type": "hadoop",
            "iceberg.catalog.warehouse": self._warehouse.as_uri(),
            "iceberg.control.topic": f"control-{table}",
            **self._setup.connector,
        }

    def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        try:
            connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            said = answer.read()
            if answer.status >= http.client.BAD_REQUEST:
                raise maven.Unavailable(f"Connect refused {method} {path}: {said.decode(errors='replace')[:400]}")
            return answer.status, said
        finally:
            connection.close()


def rows_of_hadoop_table(folder: Path) -> int:
    """What the newest snapshot counts, read as the Hadoop catalog does; 0 where there is none."""
    versions = sorted(int(file.name[1:].partition(".")[0]) for file in folder.glob("metadata/v*.metadata.json"))
    if not versions:
        return 0
    try:
        table = json.loads((folder / "metadata" / f"v{versions[-1]}.metadata.json").read_text())
    except (ValueError, FileNotFoundError):  # being written, or removed by a newer one
        return 0
    current = table.get("current-snapshot-id")
    for snapshot in table.get("snapshots", []):
        if snapshot["snapshot-id"] == current:
            return int(snapshot["summary"]["total-records"])
    return 0


@contextmanager
def running(bootstrap: str, folder: Path, warehouse: Path, setup: Setup = HELPED) -> Iterator[IcebergSink]:
    """A worker that is up. Tables lie in `warehouse`, in a Hadoop catalog."""
    folder.mkdir(parents=True, exist_ok=True)
    plugins = maven.fetch(maven.CACHE / f"iceberg-sink-{ICEBERG}", SINK)
    connect = maven.fetch(maven.CACHE / f"connect-transforms-{kafka.VERSION}", CONNECT)
    [port] = free_ports(1)
    properties, log = folder / "worker.properties", folder / "worker.log"
    properties.write_text(
        WORKER.format(
            bootstrap=bootstrap,
            folder=folder,
            port=port,
            plugins=_as_plugin(plugins, folder),
            flush_ms=setup.flush_ms,
        )
    )
    logging = f"-Dlog4j2.configurationFile={kafka.CACHE / 'log4j2.xml'}"
    command = [maven.program("java"), "-Xms256M", "-Xmx2G", "-XX:+UseG1GC", "-Dloglevel=warn", logging]
    command += ["-cp", f"{connect}/*", "org.apache.kafka.connect.cli.ConnectStandalone", str(properties)]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=folder)
    try:
        sink, deadline = IcebergSink(process, port, bootstrap, warehouse, setup), time.monotonic() + START_S_MAX
        while not sink.is_up():
            if process.poll() is not None or time.monotonic() > deadline:
                raise maven.Unavailable(f"Kafka Connect did not start:\n{log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.2)
        yield sink
    finally:
        process.kill()
        process.wait(10)


def _as_plugin(jars: Path, folder: Path) -> Path:
    """A folder of plugins, with the sink as one of them. What Connect brings itself must not come twice."""
    plugin = folder / "plugins" / "iceberg"
    plugin.mkdir(parents=True)
    for jar in jars.glob("*.jar"):
        if not jar.name.startswith(("kafka-clients", "connect-api", "connect-json")):
            (plugin / jar.name).symlink_to(jar)
    return plugin.parent
