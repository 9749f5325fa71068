"""A whole round on S3: Spark's workers write the table there, consumers replay from it, `verify` and `sql` read it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import obstore
import pytest
from obstore.store import S3Store

from lakestream.cli.processes.java import missing_java
from tests.integration.tables.up_topics import PARTITIONS, consume, produce, wait_for
from tests.integration.up_process import ROOT, Up, command, environment
from tests.s3_server import s3_bucket

pytestmark = pytest.mark.skipif(missing_java() is not None, reason=str(missing_java()))

BUCKET = "lakestream-tables"
COUNT = 1_000
VERIFY_SECONDS_MAX = 300


@pytest.fixture(scope="module")
def options() -> Iterator[dict[str, str]]:
    with s3_bucket(BUCKET) as found:
        yield found


def keys(options: dict[str, str], prefix: str) -> list[str]:
    store = S3Store(BUCKET, config=options, client_options={"allow_http": True})  # type: ignore[arg-type]
    return [info["path"] for page in obstore.list(store, prefix) for info in page]


@contextmanager
def verification(*arguments: str) -> "Iterator[subprocess.Popen[str]]":
    """`lakestream verify`, as a process: it starts a Spark of its own, and other things can be looked at meanwhile."""
    command = [sys.executable, "-m", "lakestream", "verify", *arguments, "--json"]
    piped = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=piped, stderr=piped, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_round_on_s3_writes_replays_and_verifies(tmp_path: Path, options: dict[str, str]) -> None:
    config = tmp_path / "lakestream.toml"
    given = "\n".join(f'{name} = "{value}"' for name, value in options.items())
    config.write_text(f'objects = "s3://{BUCKET}/lake"\nwal.grace_ms = 500\n[objects_options]\n{given}\n')
    flags = ["--config", str(config)]
    with Up(tmp_path / "data", *flags, pipeline=True) as up:
        up.run("topic", "create", "orders", "--partitions", str(PARTITIONS))
        produce(up, "orders", COUNT)
        from_log = consume(up, "orders", COUNT)
        up.run("compact", "orders")
        assert [key for key in keys(options, "lake/tables/") if key.endswith(".parquet")]
        with verification("orders", *flags, "--kafka", up.kafka, "--http", up.http) as verify:
            wait_for(lambda: not keys(options, "lake/wal/"), "WAL objects are still there long after their grace")
            assert consume(up, "orders", COUNT) == from_log
            assert len(from_log) == COUNT
            asked = ["sql", "SELECT count(*) AS n, count(DISTINCT __offset) > 1 AS many FROM orders", "--json"]
            told = command(*asked, *flags, "--http", up.http)
            assert json.loads(told.stdout) == [{"n": COUNT, "many": True}], told.stderr
            said, failed = verify.communicate(timeout=VERIFY_SECONDS_MAX)
            assert verify.returncode == 0, said + failed
            assert f'"records":{COUNT}' in said.replace(" ", "")
        assert up.stop() == 0
