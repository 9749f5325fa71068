"""Commands without a service: exit codes and advice."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from lakestream import __version__
from lakestream.cli.client.kafka_client import check
from lakestream.cli.failures import CommandFailed
from lakestream.cli.main import main
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.storage.wal.segment import MAGIC, Receipt, SegmentEntry, SegmentFooter, encode_footer

Command = Callable[..., "Done"]


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def lakestream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command, in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["lakestream", *arguments])
        with pytest.raises(SystemExit) as exited:
            main()
        return Done(int(exited.value.code or 0), *capfd.readouterr())

    return run


@pytest.mark.parametrize(
    ("arguments", "code", "advice"),
    [
        (["topic", "list", "--kafka", "127.0.0.1:1"], 1, "lakestream up"),
        (["status", "--http", "127.0.0.1:1"], 1, "lakestream up"),
        (["status", "--http", "http://127.0.0.1:1/"], 1, "lakestream up"),
        (["status", "--http", "nonsense"], 2, "127.0.0.1:8080"),
        (["compact", "--http", "127.0.0.1:1"], 1, "lakestream up"),
        (["topic", "list", "--kafka", "nonsense"], 2, "HOST:PORT"),
        (["settings", "--set", "wal.linger=1"], 2, "did you mean 'wal.linger_ms'"),
        (["settings", "--set", "wal.linger_ms"], 2, "NAME=VALUE"),
        (["settings", "--config", "gone.toml"], 2, "gone.toml"),
        (["topic", "alter", "t"], 2, "nothing to change"),
        (["topic", "alter", "t", "-c", "retention.ms=5", "--unset", "retention.ms"], 2, "choose one"),
        (["topic", "create", "t", "--profile", "fast", "-c", "lakestream.profile=diskless"], 2, "choose one"),
        (["topic", "create", "t", "--profile", "slow"], 2, "diskless"),
        (["produce", "t", "--key-separator", ""], 2, "--key-separator is empty"),
        (["up", "--kafka", "0.0.0.0:9092"], 2, "kafka.advertised"),
        (["up", "--kafka", "10.0.0.1:9092"], 2, "--allow-insecure"),
        (["up", "--set", "objects=memory://"], 2, "file:///"),
        (["up", "--brokers", "0"], 2, "brokers"),
        (["segment", "show", "wal/00/gone.lsg"], 1, "no object"),
        (["consume", "t", "--from", "yesterday"], 2, "2026-01-31T08:00:00Z"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_a_command_that_cannot_be_done_says_what_to_do(
    lakestream: Command, arguments: list[str], code: int, advice: str
) -> None:
    done = lakestream(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert advice in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_printed_without_a_command(lakestream: Command) -> None:
    done = lakestream("--version")
    assert (done.returncode, done.stdout) == (0, f"{__version__}\n")


@pytest.mark.parametrize(
    ("code", "message", "said"),
    [
        (KafkaError.UNKNOWN_TOPIC_OR_PARTITION, None, "`lakestream topic list`"),
        (KafkaError.OFFSET_OUT_OF_RANGE, None, "`lakestream topic describe`"),
        (KafkaError.INVALID_TOPIC_EXCEPTION, "too long", "what: too long"),
        (KafkaError.REQUEST_TIMED_OUT, None, "what: request timed out"),
        (12_345, None, "what: error 12345"),
    ],
)
def test_what_a_broker_says_by_a_code_becomes_a_sentence(code: int, message: str | None, said: str) -> None:
    with pytest.raises(CommandFailed, match=re.escape(said)):
        check(code, message, "what")


def test_a_disk_that_is_full_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "lakestream", "settings"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == "error: [Errno 28] No space left on device\n"


def test_a_data_folder_that_is_a_file_is_said_to_be_one(lakestream: Command, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    for data, reason in (("notes", "it is a file"), ("notes/data", "a part of its path is a file")):
        done = lakestream("up", "--data", data, "--kafka", "127.0.0.1:0", "--http", "127.0.0.1:0")
        assert done.returncode == 1
        assert "notes" in done.stderr and f"{reason}. Name a folder with --data" in done.stderr


def test_settings_are_printed_with_their_sources(lakestream: Command, tmp_path: Path) -> None:
    (tmp_path / "lakestream.toml").write_text("[wal]\nlinger_ms = 7\n")
    rows = {row["name"]: row for row in json.loads(lakestream("settings", "--json").stdout)}
    assert rows["wal.linger_ms"]["value"] == 7
    assert rows["wal.linger_ms"]["source"] == "lakestream.toml"
    assert rows["http.listen"]["source"] == "default"
    assert "wal.linger_ms" in lakestream("settings").stdout


def test_a_segment_is_shown(lakestream: Command, tmp_path: Path) -> None:
    footer = SegmentFooter(
        cluster_id="c",
        broker_id=3,
        segment="01J00000000000000000000000",
        created_ms=5,
        entries=[SegmentEntry(b"\x01" * 16, 2, 4, 100, 7, 9)],
        receipts=[Receipt("01J00000000000000000000001", b"\x01" * 16, 2, 4, 50, 1000, 3, -1)],
    )
    file = tmp_path / "some.lsg"
    file.write_bytes(MAGIC + bytes(100) + encode_footer(footer))
    shown = json.loads(lakestream("segment", "show", str(file), "--json").stdout)
    assert shown["entries"] == [
        {"topic_id": "01" * 16, "partition": 2, "at": 4, "length": 100, "records": 7, "max_timestamp_ms": 9}
    ]
    assert shown["receipts"][0]["base_offset"] == 1000
    assert "01J00000000000000000000001" in lakestream("segment", "show", str(file)).stdout


def test_a_file_that_is_no_segment_is_refused(lakestream: Command, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"something else entirely")
    done = lakestream("segment", "show", "other")
    assert done.returncode == 1
    assert "not a segment" in done.stderr


def test_client_commands_do_not_load_the_compiled_codec() -> None:
    commands = ["up", "topic", "produce", "consume", "group", "status", "settings", "segment", "schema", "compact"]
    code = (
        f"import sys; from lakestream.cli.main import command_line; [command_line([each]) for each in {commands}]\n"
        "print({'numba', 'pyarrow', 'lakestream.app.broker'} & set(sys.modules))"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "set()"
