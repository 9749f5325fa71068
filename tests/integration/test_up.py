"""`lakestream up`: one command, and everything acknowledged survives whatever ends it."""

import json
import os
import signal
import socket
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakestream.settings.address import parse_address

from .up_process import Up, command, follow, lakestream


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One that runs through the tests that leave it as it was."""
    with Up(tmp_path_factory.mktemp("up") / "data") as running:
        yield running
        assert running.stop() == 0


def http_get(address: str, path: str) -> str:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"http://{address}{path}", timeout=10) as answer:
        return str(answer.read().decode())


def test_lines_come_back_as_they_went_in(up: Up) -> None:
    lines = [f"line {number}" for number in range(2500)]
    assert "2500 records" in up.run("produce", "lines", text="\n".join(lines) + "\n")
    assert lakestream("consume", "lines", "--kafka", up.kafka).stdout.splitlines() == lines
    assert up.run("consume", "lines", "--from", "2498").splitlines() == lines[2498:]
    assert up.run("consume", "lines", "--max", "3").splitlines() == lines[:3]
    assert up.run("consume", "lines", "--from", "latest") == ""


def test_reading_from_beyond_the_end_says_where_that_is(up: Up) -> None:
    up.run("produce", "short", text="a\nb\n")
    done = command("consume", "short", "--from", "99", "--kafka", up.kafka)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "partition 0 ends at offset 2: it has nothing from 99 on\n"
    assert command("consume", "short", "--from", "2", "--kafka", up.kafka).stderr == ""


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_codec_keeps_keys_values_and_headers(up: Up, codec: str) -> None:
    topic = f"codec-{codec}"
    up.run("topic", "create", topic, "--partitions", "4")
    flags = ["--key-separator", ":", "--header", "from=test", "--compression", codec]
    up.run("produce", topic, *flags, text="a:1\nb:2\na:3\n")
    records = [json.loads(line) for line in up.run("consume", topic, "--json").splitlines()]
    assert sorted((r["key"], r["value"]) for r in records) == [("a", "1"), ("a", "3"), ("b", "2")]
    assert len({r["partition"] for r in records if r["key"] == "a"}) == 1
    assert all(r["headers"] == [{"name": "from", "value": "test"}] for r in records)


def test_reading_can_begin_at_a_time(up: Up) -> None:
    up.run("produce", "timed", text="early\n")
    [early] = [json.loads(line) for line in up.run("consume", "timed", "--json").splitlines()]
    up.run("produce", "timed", text="late\n")
    [_, late] = [json.loads(line) for line in up.run("consume", "timed", "--json").splitlines()]
    assert late["timestamp_ms"] > early["timestamp_ms"]
    seconds, ms = divmod(late["timestamp_ms"], 1000)
    when = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"
    assert up.run("consume", "timed", "--from", f"{when}.{ms:03}+00:00").splitlines() == ["late"]
    assert up.run("consume", "timed", "--from", "2100-01-01T00:00:00Z") == ""


def test_following_prints_records_as_they_come(up: Up) -> None:
    up.run("topic", "create", "followed")
    with follow(up, "followed") as following:
        assert following.stdout is not None
        for line in ("first\n", "second\n"):
            up.run("produce", "followed", text=line)
            assert following.stdout.readline() == line
        following.send_signal(signal.SIGINT)
        assert following.wait(timeout=30) == 0


def test_a_topic_is_created_described_altered_and_deleted(up: Up) -> None:
    up.run("topic", "create", "life", "--partitions", "2", "--topic-config", "retention.ms=86400000")
    assert {"topic": "life", "partitions": 2} in json.loads(up.run("topic", "list", "--json"))
    up.run("topic", "alter", "life", "--partitions", "3", "--topic-config", "max.message.bytes=2000")
    up.run("topic", "alter", "life", "--unset", "retention.ms")
    described = json.loads(up.run("topic", "describe", "life", "--json"))
    assert [partition["next_offset"] for partition in described["partitions"]] == [0, 0, 0]
    limit, retention = (described["config"][name] for name in ("max.message.bytes", "retention.ms"))
    assert (limit["value"], limit["set"]) == ("2000", True)
    assert "batch" in limit["meaning"]
    assert (retention["value"], retention["set"]) == ("-1", False)
    up.run("topic", "delete", "life")
    assert "life" not in up.run("topic", "list")


def test_what_the_broker_refuses_is_said_in_a_line(up: Up) -> None:
    where = ["--kafka", up.kafka]
    for arguments, advice in [
        (["topic", "create", "bad/name"], "letters"),
        (["topic", "create", "t", "--topic-config", "no.such=1"], "unknown topic config"),
        (["topic", "describe", "never-made"], "`lakestream topic list`"),
        (["consume", "never-made"], "`lakestream topic list`"),
        (["topic", "delete", "never-made"], "`lakestream topic list`"),
        (["topic", "alter", "never-made", "--unset", "retention.ms"], "`lakestream topic list`"),
    ]:
        done = command(*arguments, *where)
        assert done.returncode == 1
        assert advice in done.stderr
        assert "Traceback" not in done.stderr


def test_who_waits_for_the_pipeline_is_told_that_none_runs(up: Up) -> None:
    up.run("produce", "waiting", text="one\n")
    for arguments in (["compact"], ["quarantine", "retry", "waiting"], ["quarantine", "discard", "waiting"]):
        done = command(*arguments, "--http", f"http://{up.http}")
        assert done.returncode == 1
        assert "no pipeline is running" in done.stderr and "--no-pipeline" in done.stderr and "Java 17" in done.stderr


def test_without_java_every_face_says_so_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with Up(tmp_path / "data", pipeline=True) as up:
        up.run("produce", "waiting", text="one\n")
        compacted = command("compact", "--http", up.http)
        status = command("status", "--http", up.http)
        ready = json.loads(http_get(up.http, "/readyz"))
        assert (compacted.returncode, status.returncode, ready["ready"]) == (1, 0, True)
        for said in (compacted.stderr, status.stderr, ready["parts"]["pipeline"]):
            assert "JAVA_HOME names no Java" in said and "apt install openjdk" in said
        assert up.stop() == 0


def test_status_health_and_metrics_show_what_happened(up: Up) -> None:
    up.run("produce", "shown", text="one\ntwo\n")
    status = up.status()
    [topic] = [topic for topic in status["topics"] if topic["name"] == "shown"]
    assert (topic["records"], topic["partitions"][0]["next_offset"]) == (2, 2)
    assert [broker["state"] for broker in status["brokers"]] == ["ready"]
    assert http_get(up.http, "/healthz") == "ok\n"
    assert json.loads(http_get(up.http, "/readyz"))["ready"] is True
    metrics = http_get(up.http, "/metrics")
    assert 'lakestream_requests_total{api="Produce",broker="0"}' in metrics
    assert 'lakestream_produced_bytes_total{broker="0"}' in metrics


def test_everything_acknowledged_survives_a_killed_broker(tmp_path: Path) -> None:
    with Up(tmp_path / "data") as up:
        up.run("produce", "kept", text="before\n")
        os.kill(up.children()["broker"], signal.SIGKILL)
        up.wait_until_said("broker 0 is back")
        assert "broker 0 ended unexpectedly (killed by SIGKILL)" in up.said()
        up.run("produce", "kept", text="after\n")
        assert up.run("consume", "kept").splitlines() == ["before", "after"]
        assert up.stop() == 0


def test_everything_acknowledged_survives_a_killed_supervisor(tmp_path: Path) -> None:
    with Up(tmp_path / "data") as up:
        up.run("produce", "kept", text="before\n")
        up.process.kill()
        up.process.wait()
        # Its parts notice and end by themselves; the next one waits for them, on the same ports too.
        with Up(tmp_path / "data", "--kafka", up.kafka) as again:
            assert again.kafka == up.kafka
            assert again.run("consume", "kept").splitlines() == ["before"]
            assert again.stop() == 0


def test_a_broker_that_was_stopped_kindly_leaves_at_once(tmp_path: Path) -> None:
    with Up(tmp_path / "data") as up:
        up.run("produce", "kept", text="before\n")
        assert up.stop() == 0
    with Up(tmp_path / "data") as again:
        assert [broker["id"] for broker in again.status()["brokers"]] == [0]
        assert again.run("consume", "kept").splitlines() == ["before"]
        assert again.stop() == 0


def test_two_brokers_serve_one_log(tmp_path: Path) -> None:
    with Up(tmp_path / "data", "--brokers", "2") as up:
        first, second = up.kafka.split(",")
        assert parse_address(first).port != parse_address(second).port
        assert [broker["state"] for broker in up.status()["brokers"]] == ["ready", "ready"]
        for number, address in enumerate((first, second, first)):
            done = command("produce", "shared", "--kafka", address, text=f"{number}\n")
            assert done.returncode == 0, done.stderr
        for address in (first, second):
            assert command("consume", "shared", "--kafka", address).stdout.splitlines() == ["0", "1", "2"]
        assert 'broker="1"' in http_get(up.http, "/metrics")
        assert up.stop() == 0


def test_a_folder_in_use_is_refused(up: Up, tmp_path: Path) -> None:
    folder = next(path for path in Path(f"/proc/{up.process.pid}/cwd").resolve().iterdir() if path.name == "data")
    done = lakestream("up", "--data", str(folder), "--kafka", "127.0.0.1:0", "--http", "127.0.0.1:0")
    assert done.returncode == 1
    assert f"process {up.process.pid}" in done.stderr
    assert "--data" in done.stderr


@pytest.mark.parametrize("option", ["--kafka", "--http"])
def test_a_taken_port_names_a_free_one(tmp_path: Path, option: str) -> None:
    other = {"--kafka": "--http", "--http": "--kafka"}[option]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = lakestream("up", "--data", str(tmp_path), option, f"127.0.0.1:{port}", other, "127.0.0.1:0")
    assert done.returncode == 1
    assert f"127.0.0.1:{port} is taken" in done.stderr
    assert f"{option} 127.0.0.1:" in done.stderr


def test_settings_that_cannot_be_used_end_up_at_once(tmp_path: Path) -> None:
    flags = ["--kafka", "127.0.0.1:0", "--http", "127.0.0.1:0", "--set", "metadata=mysql://x"]
    done = lakestream("up", "--data", str(tmp_path), *flags)
    assert done.returncode == 1
    assert "no metadata store" in done.stderr
    assert "could not start" in done.stderr
