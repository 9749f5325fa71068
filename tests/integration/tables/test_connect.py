"""`lakestream connect`: what it prints is run as it stands, by the engine that it is for."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.integration.tables.lake import RunningLake, running_lake
from tests.spark_session import missing_spark

RUN_SECONDS_MAX = 120


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(tmp_path_factory.mktemp("lake")) as running:
        running.produce("orders", [b"first", b"second"])
        running.compact()
        yield running


def text(lake: RunningLake, engine: str) -> str:
    done = lake.command("connect", engine)
    assert done.returncode == 0, done.stderr
    assert "nothing to connect to" not in done.stderr
    return done.stdout


def run(folder: Path, *words: str) -> str:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        words, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=RUN_SECONDS_MAX
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == [], "it left something behind"
    return done.stdout


def test_pyiceberg_lists_the_tables(lake: RunningLake, tmp_path: Path) -> None:
    assert "('streams', 'orders')" in run(tmp_path, sys.executable, "-c", text(lake, "pyiceberg"))


def test_duckdb_lists_the_tables(lake: RunningLake) -> None:
    """By the lines for where extensions cannot be downloaded, as is the case here."""
    lines = text(lake, "duckdb").splitlines()
    loads = [line.removeprefix("--   ") for line in lines if line.startswith("--   LOAD")]
    *others, last = [line for line in lines if not line.startswith(("--", "INSTALL", "LOAD"))]
    with duckdb.connect() as connection:
        for statement in (*loads, *others):
            connection.execute(statement)
        assert ("orders",) in connection.execute(last).fetchall()


@pytest.mark.skipif(missing_spark() is not None, reason=str(missing_spark()))
def test_spark_sql_counts_the_rows(lake: RunningLake, tmp_path: Path) -> None:
    asked = text(lake, "spark-sql").rstrip() + " -e 'SELECT count(*) FROM streams.orders'"
    assert run(tmp_path, "sh", "-c", asked).split() == ["2"]
