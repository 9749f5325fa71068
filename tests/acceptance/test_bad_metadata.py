"""A metadata store that cannot be used: `up` ends with code 1 and a line that says what to do, and changes nothing."""

import hashlib
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from tests.integration.kafka.batches import batch, records
from tests.integration.kafka.wire_client import WireClient, produce_request
from tests.integration.up_process import Done, Up, lakestream

from .broker_process import broker_pids

LONG_LEASE = ("--set", "broker.lease_ms=30000")
"""A broker on a busy machine keeps it although it cannot renew it while the tables are locked."""


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a record in it. Tests work on copies."""
    data = tmp_path_factory.mktemp("metadata") / "data"
    with Up(data) as up, WireClient(up.kafka) as client:
        client.create_topic("kept")
        assert client.produce("kept", batch([b"value"])).error_code.value == 0
        assert up.stop() == 0
    return data


@pytest.fixture
def data(used: Path, tmp_path: Path) -> Path:
    shutil.copytree(used, tmp_path / "data")
    return tmp_path / "data"


def refused_start(data: Path) -> Done:
    done = lakestream("up", "--no-pipeline", "--data", str(data), "--kafka", "127.0.0.1:0", "--http", "127.0.0.1:0")
    assert done.returncode == 1
    assert done.stdout == "", "it was never ready"
    assert "Traceback" not in done.stderr
    return done


def digest(data: Path) -> dict[str, str]:
    """What is kept: objects and metadata, without lock files and SQLite's own scratch files."""
    kept = [*(data / "objects").rglob("*.lsg"), data / "metadata.db"]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}


def test_a_metadata_file_of_a_newer_version_is_refused_and_left_alone(data: Path) -> None:
    with sqlite3.connect(data / "metadata.db") as connection:
        connection.execute("INSERT INTO migration SELECT max(number) + 1, 0 FROM migration")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (newer,) = connection.execute("SELECT max(number) FROM migration").fetchone()
    connection.close()
    before = digest(data)
    said = refused_start(data).stderr
    assert f"has schema version {newer}" in said
    assert f"versions up to {newer - 1}" in said
    assert "run the version that wrote it" in said
    assert digest(data) == before


@pytest.mark.parametrize("damage", ["not a database", "pages overwritten"])
def test_a_damaged_metadata_file_is_refused_and_left_alone(damage: str, data: Path) -> None:
    file = data / "metadata.db"
    content = file.read_bytes()
    file.write_bytes(
        {
            "not a database": b"something else entirely" * 1000,
            "pages overwritten": content[:100] + b"\xa5" * (len(content) - 100),
        }[damage]
    )
    before = digest(data)
    said = refused_start(data).stderr
    assert "metadata.db is damaged or no SQLite file" in said
    assert "restore it from a backup" in said
    assert digest(data) == before


def test_the_tables_locked_by_someone_else_delay_producers_and_nothing_more(data: Path) -> None:
    """An administrator's open transaction: reading goes on, producing waits, and then it is as if nothing had been."""
    with Up(data, *LONG_LEASE) as up, WireClient(up.kafka) as client:
        started = broker_pids(up)
        intruder = sqlite3.connect(data / "metadata.db", isolation_level=None)
        intruder.execute("BEGIN IMMEDIATE")
        waiting = WireClient(up.kafka)
        correlation = waiting.send(0, 9, produce_request({"kept": {0: batch([b"delayed"])}}))
        time.sleep(0.5)
        assert [each.value for each in records(client.fetch("kept", 0).records)] == [b"value"]
        intruder.execute("ROLLBACK")
        intruder.close()
        [topic] = waiting.receive(0, 9, correlation).responses
        assert [part.error_code.value for part in topic.partition_responses] == [0]
        assert [each.value for each in records(client.fetch("kept", 0).records)] == [b"value", b"delayed"]
        assert broker_pids(up) == started
