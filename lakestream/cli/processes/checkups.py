"""The checks of `lakestream doctor`: each returns a verdict, what was found, and what to do about it.

No check changes anything, except that a remote object store is tried with an object that is deleted again.
"""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import psycopg

from lakestream.cli.client.gateway_client import CATALOG_PATH, ask_gateway
from lakestream.cli.processes.java import missing_java
from lakestream.cli.processes.ports import is_free
from lakestream.cli.service import Gateway
from lakestream.model.errors import LakestreamError
from lakestream.settings.address import Address
from lakestream.settings.model import Settings
from lakestream.world.chance import SystemChance
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.threads import InlineThreads

GOOD, NOTE, BAD = "good", "note", "bad"
FREE_BYTES_MIN = 2 * 1024**3
MEMORY_BYTES_MIN = 3 * 1024**3
"""Broker, gateway and Spark's pipeline together."""
CLOCK_SECONDS_MAX = 5.0
_SECONDS_MAX = 10
_GIB = 1024**3


class Checkup(NamedTuple):
    part: str
    verdict: str
    found: str
    advice: str = ""


def all_checks(settings: Settings, gateway: Gateway, clock: Clock) -> list[Checkup]:
    return [
        _python(),
        _machine(),
        _disk(settings),
        _java(),
        _spark(),
        *(_port("Kafka's port", address, "--kafka") for address in settings.kafka.listeners),
        _port("HTTP's port", settings.http.listen, "--http"),
        _objects(settings, clock),
        _database(settings, clock),
        _catalog(gateway),
    ]


def _python() -> Checkup:
    found = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    if (3, 11) <= sys.version_info[:2] < (3, 15):
        return Checkup("python", GOOD, found)
    return Checkup("python", BAD, found, "use Python 3.11 to 3.14")


def _machine() -> Checkup:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    found = f"{os.cpu_count()} cores, {memory / _GIB:.1f} GiB of memory"
    if memory >= MEMORY_BYTES_MIN:
        return Checkup("machine", GOOD, found)
    return Checkup("machine", NOTE, found, "3 GiB are needed with the pipeline; without it: `up --no-pipeline`")


def _disk(settings: Settings) -> Checkup:
    folder = _existing(settings.data_folder)
    free = shutil.disk_usage(folder).free
    found = f"{free / _GIB:.1f} GiB free for {settings.data_folder}"
    if not os.access(folder, os.W_OK):
        return Checkup("data folder", BAD, f"{folder} cannot be written", "choose another with --data")
    if free < FREE_BYTES_MIN:
        return Checkup("data folder", BAD, found, "free some, or choose another with --data")
    return Checkup("data folder", GOOD, found)


def _java() -> Checkup:
    if (why := missing_java()) is not None:
        return Checkup("java", BAD, "none", why)
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=_SECONDS_MAX)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Checkup("java", BAD, str(error), "install Java 17 or later")
    found = (done.stderr or done.stdout).partition("\n")[0].strip()
    if _java_release(found) >= 17:
        return Checkup("java", GOOD, found)
    return Checkup("java", BAD, found, "Spark needs Java 17 or later: install one, or point JAVA_HOME to it")


def _java_release(words: str) -> int:
    """openjdk version "17.0.12" 2024-07-16 -> 17; 1.8.0 -> 1."""
    _, _, quoted = words.partition('"')
    first = quoted.partition(".")[0].partition('"')[0]
    return int(first) if first.isdecimal() else 0


def _spark() -> Checkup:
    try:
        return Checkup("spark", GOOD, f"PySpark {version('pyspark')}")
    except PackageNotFoundError:
        return Checkup("spark", BAD, "PySpark is not installed", "pip install lakestream again: it brings PySpark")


def _port(part: str, address: Address, option: str) -> Checkup:
    if address.port == 0 or is_free(address):
        return Checkup(part, GOOD, f"{address} is free")
    return Checkup(part, NOTE, f"{address} is in use", f"fine if Lakestream runs there; else choose one by {option}")


def _objects(settings: Settings, clock: Clock) -> Checkup:
    url = settings.objects_url
    if urlsplit(url).scheme == "file":
        folder = _existing(Path(unquote(urlsplit(url).path)))
        if os.access(folder, os.W_OK):
            return Checkup("object store", GOOD, url)
        return Checkup("object store", BAD, f"{folder} cannot be written", "choose another folder, or give rights")
    return _tried("object store", url, lambda: asyncio.run(_open_objects(settings, clock)))


async def _open_objects(settings: Settings, clock: Clock) -> None:
    ids = Ids(clock, SystemChance())
    opened = await open_objects(
        settings.objects_url, clock=clock, ids=ids, threads=InlineThreads(), options=settings.objects_options
    )
    await opened.close()


def _database(settings: Settings, clock: Clock) -> Checkup:
    parts = urlsplit(settings.metadata_url)
    if parts.scheme != "sqlite":
        shown = f"{parts.scheme}://{parts.hostname}{parts.path}"
        return _postgres(settings.metadata_url, shown, clock)
    file = Path(unquote(parts.path))
    if not file.exists():
        return Checkup("database", GOOD, f"{file} will be made at the first start")

    def look() -> None:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=_SECONDS_MAX)) as opened:
            opened.execute("SELECT count(*) FROM sqlite_master").fetchone()

    return _tried("database", f"sqlite, {file}", look)


def _postgres(url: str, shown: str, clock: Clock) -> Checkup:
    try:
        with psycopg.connect(url, connect_timeout=_SECONDS_MAX) as connection:
            row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
    except psycopg.Error as error:
        return Checkup("database", BAD, f"{shown}: {str(error).strip()}", "see that it runs, and the URL in `metadata`")
    apart = abs(float(row[0] if row else 0.0) - clock.wall_ms() / 1000)
    if apart > CLOCK_SECONDS_MAX:
        return Checkup("clock", NOTE, f"{apart:.0f} s apart from {shown}", "run NTP on both machines")
    return Checkup("database", GOOD, f"{shown}, clocks {apart:.1f} s apart")


def _catalog(gateway: Gateway) -> Checkup:
    try:
        ask_gateway(gateway, f"{CATALOG_PATH}/v1/config")
        problems = {name: state for name, state in ask_gateway(gateway, "/readyz")["parts"].items() if state != "ready"}
    except (TimeoutError, LakestreamError):
        return Checkup("catalog", NOTE, f"nothing answers at {gateway}", "start it with `lakestream up`")
    if problems:
        name, state = next(iter(problems.items()))
        return Checkup("catalog", NOTE, f"answers at {gateway}; {name} is not ready", state)
    return Checkup("catalog", GOOD, f"answers at {gateway}, every part is ready")


def _tried(part: str, found: str, look: Callable[[], None]) -> Checkup:
    try:
        look()
    except (LakestreamError, OSError, sqlite3.Error) as error:
        return Checkup(part, BAD, found, str(error))
    return Checkup(part, GOOD, found)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder
