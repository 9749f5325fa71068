"""Trino: one process, from Maven Central, with the catalog `lake` attached to a running one of ours.

with running_trino(uri, folder) as trino:
    trino.ask("SELECT count(*) FROM lake.streams.orders")
"""

import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from benchmarks.peers import maven
from tests.ports import free_port

VERSION = "406"
"""The newest on Maven Central that runs on Java 17: later ones there need Java 22."""
SERVER = maven.CACHE / f"trino-{VERSION}"
PLUGINS = maven.CACHE / f"trino-iceberg-{VERSION}"
STARTER = Path(__file__).parent / "java" / "Trino.java"
NOT_NEEDED = ("org.alluxio", "com.qubole.rubix", "io.trino:trino-spi")
"""A third of the plugin's bytes: for stores that the tests have not. The server has the interface itself."""
JVM = ("-Xmx1G", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djdk.attach.allowAttachSelf=true")
START_S_MAX = 180
ANSWER_S_MAX = 120

CONFIG = """node.environment=test
node.internal-address=127.0.0.1
node.bind-ip=127.0.0.1
coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port={port}
discovery.uri=http://127.0.0.1:{port}
plugin.dir={plugins}
catalog.config-dir={catalogs}
query.max-memory=200MB
query.max-memory-per-node=200MB
memory.heap-headroom-per-node=100MB
"""
CATALOG = """connector.name=iceberg
iceberg.catalog.type=rest
iceberg.rest-catalog.uri={uri}
"""


class Refused(Exception):
    """Trino's answer to a statement that failed."""


class Trino:
    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"

    def is_up(self) -> bool:
        try:
            return not self._get(f"{self._url}/v1/info")["starting"]
        except OSError:
            return False

    def ask(self, statement: str) -> list[list[Any]]:
        """All rows. Raises Refused."""
        headers = {"X-Trino-User": "test"}
        page = self._get(urllib.request.Request(f"{self._url}/v1/statement", statement.encode(), headers))
        rows: list[list[Any]] = page.get("data", [])
        while "nextUri" in page:
            page = self._get(page["nextUri"])
            rows += page.get("data", [])
        if "error" in page:
            raise Refused(page["error"]["message"])
        return rows

    def _get(self, asked: str | urllib.request.Request) -> Any:
        with urllib.request.urlopen(asked, timeout=ANSWER_S_MAX) as answer:
            return json.load(answer)


@cache
def prepared() -> tuple[Path, Path]:
    """The server's jars and the folder of plugins, fetched on first use: 230 MB. Raises Unavailable."""
    libs = maven.fetch(SERVER, [f"io.trino:trino-main:{VERSION}"])
    plugin = maven.fetch(PLUGINS, [f"io.trino:trino-iceberg:{VERSION}"], without=NOT_NEEDED)
    with ZipFile(plugin / "services.jar", "w") as services:  # what makes a plugin of the jars
        services.writestr("META-INF/services/io.trino.spi.Plugin", "io.trino.plugin.iceberg.IcebergPlugin\n")
    return libs, PLUGINS


@contextmanager
def running_trino(uri: str, folder: Path) -> Iterator[Trino]:
    """`folder` takes its configuration and its log."""
    (libs, plugins), port = prepared(), free_port()
    config, catalogs, log = folder / "config.properties", folder / "catalog", folder / "log.txt"
    catalogs.mkdir()
    config.write_text(CONFIG.format(port=port, plugins=plugins, catalogs=catalogs))
    (catalogs / "lake.properties").write_text(CATALOG.format(uri=uri))
    command = [maven.program("java"), *JVM, f"-Dconfig={config}", "-cp", f"{libs}/*", str(STARTER), VERSION]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)
    try:
        running, deadline = Trino(port), time.monotonic() + START_S_MAX
        while not running.is_up():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-4_000:]
            time.sleep(0.2)
        yield running
    finally:
        process.kill()
        process.wait()
