"""A disk that is full or read-only: producers are told to try again, readers read on, and it heals by itself."""

import time
from pathlib import Path

import confluent_kafka as ck

from tests.integration.kafka.batches import batch, records
from tests.integration.kafka.wire_client import WireClient, produce_request
from tests.integration.up_process import Up, lakestream

from .broker_process import broker_pids
from .patient import KAFKA_STORAGE_ERROR, PATIENCE_SECONDS, REQUEST_TIMED_OUT, produce_until_stored
from .small_disk import small_disk

DISK_MB = 24
LEASE_MS = 1_000

NOT_INLINE = ("--set", "wal.inline_bytes_max=0")
"""Flushes go to the disk of the objects, and not into the metadata store."""


def stored_values(client: WireClient, topic: str) -> list[bytes]:
    """Everything in partition 0."""
    values: list[bytes] = []
    while found := records(client.fetch(topic, len(values)).records):
        values += [each.value for each in found]
    return values


def test_a_full_disk_refuses_producers_serves_readers_and_heals(tmp_path: Path) -> None:
    """Everything is on that disk, the log files too, and it stays full until the broker has lost its lease."""
    short_lease = ("--set", f"broker.lease_ms={LEASE_MS}")
    with small_disk(tmp_path / "disk", megabytes=DISK_MB) as disk:
        with Up(disk.folder / "data", *short_lease) as up, WireClient(up.kafka) as client:
            started = broker_pids(up)
            client.create_topic("kept")
            acknowledged = [b"before %d" % number for number in range(5)]
            for value in acknowledged:
                assert client.produce("kept", batch([value])).error_code.value == 0
            disk.fill()
            refused = client.produce("kept", batch([b"too much" * 10_000]))
            assert refused.error_code.value == KAFKA_STORAGE_ERROR
            assert "free some space" in refused.error_message
            time.sleep(1.5 * LEASE_MS / 1000)
            assert stored_values(client, "kept") == acknowledged, "reading goes on"
            disk.empty()
            assert produce_until_stored(client, "kept", batch([b"after"])) == len(acknowledged)
            acknowledged.append(b"after")
            assert stored_values(client, "kept") == acknowledged
            assert broker_pids(up) == started, "a broker process was replaced"
            assert up.stop() == 0
            assert "Traceback" not in up.said()
        with Up(disk.folder / "data") as again, WireClient(again.kafka) as client:
            assert stored_values(client, "kept") == acknowledged, "nothing acknowledged is lost"


def test_a_producer_waits_out_a_full_disk_by_its_own_retries(tmp_path: Path) -> None:
    """librdkafka, idempotent: what it sends while the disk is full is stored once there is room. The log tells why."""
    with small_disk(tmp_path / "disk", megabytes=DISK_MB) as disk:
        (tmp_path / "data").symlink_to(disk.folder)  # the log files stay outside
        with Up(tmp_path / "data", *NOT_INLINE) as up:
            failures: list[ck.KafkaError] = []
            producer = ck.Producer({"bootstrap.servers": up.kafka, "enable.idempotence": True, "log_level": 0})

            def delivered(error: ck.KafkaError | None, _: ck.Message) -> None:
                if error is not None:
                    failures.append(error)

            for number in range(50):
                producer.produce("patient", b"%d " % number + bytes(10_000), partition=0, on_delivery=delivered)
                producer.poll(0.01)
                if number == 10:
                    assert producer.flush(PATIENCE_SECONDS) == 0
                    disk.fill()
            up.wait_until_said("batches cannot be made durable")
            assert "free some space on that disk" in up.said()
            disk.empty()
            assert producer.flush(PATIENCE_SECONDS) == 0
            producer.close()
            assert failures == []
            with WireClient(up.kafka) as client:
                assert [int(value.split()[0]) for value in stored_values(client, "patient")] == list(range(50))
            up.wait_until_said("batches are made durable again")


def test_read_only_objects_refuse_producers_serve_readers_and_heal(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", megabytes=DISK_MB) as disk:
        objects = ("--set", f"objects={disk.folder.as_uri()}/objects")
        with Up(tmp_path / "data", *objects, *NOT_INLINE) as up, WireClient(up.kafka) as client:
            client.create_topic("kept")
            assert client.produce("kept", batch([b"before"])).error_code.value == 0
            disk.make_read_only()
            [topic] = client.call(0, 9, produce_request({"kept": {0: batch([b"refused"])}}, timeout=1_000)).responses
            assert [part.error_code.value for part in topic.partition_responses] == [REQUEST_TIMED_OUT]
            assert stored_values(client, "kept") == [b"before"]
            up.wait_until_said("Read-only file system")
            disk.make_writable()
            offset = produce_until_stored(client, "kept", batch([b"after"]))
            found = stored_values(client, "kept")
            assert (found[0], found[offset]) == (b"before", b"after")


def test_a_start_on_a_full_or_read_only_disk_fails_with_a_line_that_says_so(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", megabytes=1) as disk:
        where = (
            "--data",
            str(disk.folder / "data"),
            "--kafka",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
            "--no-pipeline",
        )
        disk.fill()
        full = lakestream("up", *where)
        disk.empty()
        disk.make_read_only()
        read_only = lakestream("up", *where)
    for refused, reason in ((full, "No space left on device"), (read_only, "Read-only file system")):
        assert refused.returncode == 1
        assert reason in refused.stderr
        assert str(disk.folder) in refused.stderr
        assert "Traceback" not in refused.stderr
