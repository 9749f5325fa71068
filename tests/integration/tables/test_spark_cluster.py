"""Spark on more than one machine: a standalone cluster of two workers, with the data on S3.

Workers share nothing with the pipeline but the package and the object store: no database, no folder.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from lakestream.cli.processes.java import missing_java
from tests.integration.tables.up_topics import PARTITIONS, SHORT_LEASE, consume, produce, wait_for
from tests.integration.up_process import ROOT, Up, environment
from tests.s3_server import s3_bucket
from tests.spark_cluster import CONF, SparkCluster, spark_cluster

pytestmark = pytest.mark.skipif(missing_java() is not None, reason=str(missing_java()))

BUCKET = "lakestream-cluster"
TOPICS = ("red", "green", "blue", "grey")
COUNT = 2_500_000 if os.environ.get("LAKESTREAM_SOAK") else 5_000
"""Of each topic: ten million records in a long run."""
SECONDS_MAX = 600


class Running(NamedTuple):
    up: Up
    cluster: SparkCluster
    config: Path


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("cluster")
    config = folder / "lakestream.toml"
    with s3_bucket(BUCKET) as options, spark_cluster(folder, machines=2) as cluster:
        config.write_text(
            f'objects = "s3://{BUCKET}/lake"\n[objects_options]\n{toml(options)}\n'
            f'[spark]\nmaster = "{cluster.master}"\n[spark.conf]\n{toml(CONF)}\n'
        )
        with Up(folder / "data", "--config", str(config), *SHORT_LEASE, pipeline=True) as up:
            wait_for(lambda: "pipeline ready" in up.said(), "the pipeline did not start", seconds=SECONDS_MAX)
            for topic in TOPICS:
                up.run("topic", "create", topic, "--partitions", str(PARTITIONS), "-c", "lakestream.freshness=1s")
            yield Running(up, cluster, config)
            assert up.stop() == 0


def toml(table: dict[str, str]) -> str:
    return "\n".join(f'"{name}" = "{value}"' for name, value in table.items())


@contextmanager
def no_pipeline(up: Up) -> Iterator[None]:
    """It stands still, as if it were down: what arrives meanwhile has to be caught up with."""
    pipeline = up.children()["pipeline"]
    os.kill(pipeline, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pipeline, signal.SIGCONT)


def in_tables(up: Up, count: int) -> bool:
    """Whether the tables hold the first `count` records of each topic."""
    topics = [topic for topic in up.status()["topics"] if topic["name"] in TOPICS]
    return all(sum(part["tabled_until"] for part in topic["partitions"]) >= count for topic in topics)


def check_verify(running: Running, counts: dict[str, int]) -> None:
    where = ["--config", str(running.config), "--kafka", running.up.kafka, "--http", running.up.http]
    asked = [sys.executable, "-m", "lakestream", "verify", *counts, *where, "--set", "spark.master=local[2]", "--json"]
    done = subprocess.run(asked, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = json.loads(done.stdout.splitlines()[-1])["topics"]
    assert {verdict["topic"]: verdict["records"] for verdict in verdicts} == counts
    assert all(verdict["rows"] == verdict["records"] for verdict in verdicts), verdicts


def test_a_catch_up_uses_both_workers(running: Running) -> None:
    up, machines = running.up, running.cluster.machines
    with no_pipeline(up):
        before = [machine.tasks("Finished") for machine in machines]
        assert all(before), "each has told its version"
        for topic in TOPICS:
            produce(up, topic, COUNT)
    wait_for(lambda: in_tables(up, COUNT), "the tables did not catch up", seconds=SECONDS_MAX)
    assert all(machine.tasks("Finished") > count for machine, count in zip(machines, before, strict=True))


def stream(running: Running, folder: Path, *dies_at: str) -> int:
    options = {"topic": "red", "http": running.up.http, "config": str(running.config), "maxOffsetsPerTrigger": "2000"}
    asked = [sys.executable, "-m", "tests.spark_stream_process", running.cluster.master, str(folder)]
    environ = {**environment(), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [*asked, json.dumps(options), *dies_at],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def test_a_stream_on_the_cluster_goes_on_from_its_checkpoint_after_its_driver_was_killed(
    running: Running, tmp_path: Path
) -> None:
    """Its executors read table files and segments on S3."""
    if COUNT > 5_000:
        pytest.skip("the rows of a long run do not fit into files of JSON")
    up = running.up
    wait_for(lambda: in_tables(up, COUNT), "the tables did not catch up", seconds=SECONDS_MAX)
    with no_pipeline(up):
        produce(up, "red", 1_000, first=COUNT)
        assert stream(running, tmp_path, "1") == -signal.SIGKILL
        assert stream(running, tmp_path) == 0
    batches = [json.loads(file.read_text()) for file in sorted((tmp_path / "batches").iterdir())]
    assert [len(batch) for batch in batches] == [2_000] * 3
    assert sorted(row for batch in batches for row in batch) == [
        [record[0], record[1], *(None if part is None else part.hex().upper() for part in record[2:4])]
        for record in consume(up, "red", COUNT + 1_000)
    ]


def test_a_worker_that_dies_in_the_middle_costs_time_and_nothing_else(running: Running) -> None:
    up, dying = running.up, running.cluster.machines[0]
    counts = {topic: sum(part["next_offset"] for part in one["partitions"]) for topic, one in by_name(up).items()}
    with no_pipeline(up):
        for topic, count in counts.items():
            produce(up, topic, 1_000, first=count)
        dying.freeze_python()
        before = dying.tasks("Running")
    wait_for(lambda: dying.tasks("Running") > before, "it got no task", seconds=SECONDS_MAX)
    dying.kill()
    wait_for(
        lambda: all(in_table >= counts[topic] + 1_000 for topic, in_table in tabled(up).items()),
        "the other worker did not do its work",
        seconds=SECONDS_MAX,
    )
    check_verify(running, {topic: count + 1_000 for topic, count in counts.items()})


def by_name(up: Up) -> dict[str, dict[str, object]]:
    return {topic["name"]: topic for topic in up.status()["topics"] if topic["name"] in TOPICS}


def tabled(up: Up) -> dict[str, int]:
    return {name: sum(part["tabled_until"] for part in topic["partitions"]) for name, topic in by_name(up).items()}
