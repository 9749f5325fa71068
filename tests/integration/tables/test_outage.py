"""The pipeline is down while 2 GB arrive, for `make soak`: the log serves on, the debt is shown, and it is worked off.

no pipeline: 2 GB are produced -> all of it is consumed, `status` tells the debt in records, bytes and seconds
-> a pipeline starts while producing goes on -> no debt -> `verify` passes, the WAL is freed, all is consumed again
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from lakestream.cli.processes.java import missing_java
from tests.acceptance.cluster_processes import Part
from tests.integration.up_process import ROOT, Up, environment

pytestmark = [
    pytest.mark.timeout(1_800),
    pytest.mark.skipif(not os.environ.get("LAKESTREAM_SOAK"), reason="takes minutes: make soak"),
    pytest.mark.skipif(missing_java() is not None, reason=str(missing_java())),
]

TOPIC, PARTITIONS = "flood", 8
RECORDS = 2_000_000
VALUE_BYTES = 1_024
NUMBER_BYTES = 12
TRICKLE = 1_000
SECONDS_MAX = 900
GRACE_MS = 2_000


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    with Up(tmp_path / "data", "--set", f"wal.grace_ms={GRACE_MS}") as running:
        yield running


def produce(up: Up, first: int, count: int) -> None:
    """Numbered records, acknowledged when this returns."""
    pool = [random.Random(at).randbytes(VALUE_BYTES - NUMBER_BYTES) for at in range(256)]
    failed: list[Any] = []
    producer = Producer(
        {
            "bootstrap.servers": up.kafka,
            "linger.ms": 20,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 200_000,
            "enable.idempotence": True,
            "on_delivery": lambda error, message: failed.append(error) if error else None,
        }
    )
    for number in range(first, first + count):
        value = b"%0*d" % (NUMBER_BYTES, number) + pool[number % len(pool)]
        while True:
            try:
                producer.produce(TOPIC, value, partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 1_000 == 0:
            producer.poll(0)
    assert producer.flush(SECONDS_MAX) == 0 and not failed, failed[:3]


def consume_all(up: Up, count: int) -> None:
    """Every record once, in order, from offset 0 of each partition on."""
    consumer = Consumer({"bootstrap.servers": up.kafka, "group.id": "all", "enable.auto.commit": False})
    consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in range(PARTITIONS)])
    ends, seen, deadline = [0] * PARTITIONS, 0, time.monotonic() + SECONDS_MAX
    while seen < count:
        assert time.monotonic() < deadline, f"{seen} of {count} records were read"
        for message in consumer.consume(10_000, 1.0):
            assert message.error() is None, message.error()
            partition, offset, value = message.partition(), message.offset(), message.value()
            assert partition is not None and value is not None and offset == ends[partition]
            assert int(value[:NUMBER_BYTES]) == offset * PARTITIONS + partition and len(value) == VALUE_BYTES
            ends[partition] += 1
            seen += 1
    consumer.close()


def table_of(up: Up) -> Any:
    (topic,) = [one for one in up.status()["topics"] if one["name"] == TOPIC]
    return topic["table"]


def wal_bytes(up: Up) -> int:
    return sum(path.stat().st_size for path in (up.data / "objects" / "wal").rglob("*") if path.is_file())


def peak_mib(pid: int) -> int:
    """The most memory that the process has had."""
    (line,) = [one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) // 1024


def wait_until(what: Any, why: str) -> float:
    began = time.monotonic()
    while not what():
        assert time.monotonic() < began + SECONDS_MAX, why
        time.sleep(0.5)
    return time.monotonic() - began


def verify(up: Up) -> Any:
    asked = ["verify", TOPIC, "--json", "--kafka", up.kafka, "--http", up.http]
    done = subprocess.run(
        [sys.executable, "-m", "lakestream", *asked],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (verdict,) = json.loads(done.stdout.splitlines()[-1])["topics"]
    return verdict


def test_two_gigabytes_that_arrive_without_a_pipeline_are_served_shown_as_debt_and_caught_up_with(up: Up) -> None:
    up.run("topic", "create", TOPIC, "--partitions", str(PARTITIONS))
    began = time.monotonic()
    produce(up, 0, RECORDS)
    print(f"\nproduced {RECORDS * VALUE_BYTES / 1e9:.2f} GB in {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    consume_all(up, RECORDS)
    broker = up.children()["broker"]
    print(f"consumed from the log in {time.monotonic() - began:.1f} s; broker peak {peak_mib(broker)} MiB")

    debt = table_of(up)
    print({name: debt[name] for name in ("table", "lag_records", "lag_bytes", "lag_seconds", "debt_spans")})
    assert debt["lag_records"] == RECORDS
    assert debt["lag_bytes"] >= RECORDS * VALUE_BYTES
    assert debt["lag_seconds"] > 0
    assert wal_bytes(up) >= RECORDS * VALUE_BYTES
    assert up.status()["pipeline"] is None

    pipeline = Part(up.data.parent, "pipeline", "pipeline", "--data", str(up.data), "--set", f"wal.grace_ms={GRACE_MS}")
    try:
        pipeline.wait_until_ready()
        produce(up, RECORDS, TRICKLE)
        total = RECORDS + TRICKLE
        took = wait_until(lambda: table_of(up)["lag_records"] == 0, f"it does not catch up:\n{pipeline.said()}")
        print(f"caught up in {took:.1f} s after it was ready; pipeline peak {peak_mib(pipeline.process.pid)} MiB")
        verdict = verify(up)
        assert verdict["problems"] == [] and verdict["records"] == verdict["rows"] == total
        print({name: verdict[name] for name in ("records", "rows", "files", "objects", "ledgers")})
        freed = wait_until(lambda: wal_bytes(up) < 1_000_000, f"{wal_bytes(up)} bytes stay in the WAL")
        print(f"WAL freed {freed:.1f} s later, {wal_bytes(up)} bytes left")
        began = time.monotonic()
        consume_all(up, total)
        print(f"consumed from the table in {time.monotonic() - began:.1f} s")
        assert pipeline.stop() == 0
    finally:
        pipeline.kill()
    assert up.stop() == 0
