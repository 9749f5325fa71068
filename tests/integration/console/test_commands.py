"""`top`, `doctor`, generated records, completion and examples in the help."""

import json
import os
import subprocess
import sys

import pytest

from lakestream.cli.examples import EXAMPLES
from tests.integration.up_process import ROOT, Up, command, environment


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("orders", {"order_id", "time", "sku", "quantity", "price", "country"}),
        ("clicks", {"session", "time", "page", "ms"}),
        ("sensors", {"sensor", "time", "temperature", "humidity"}),
    ],
)
def test_records_are_generated_until_the_count_is_reached(up: Up, kind: str, columns: set[str]) -> None:
    said = up.run("produce", f"made-{kind}", "--generate", kind, "--rate", "2000", "--count", "50")
    assert said.startswith("50 records")
    records = [json.loads(line) for line in up.run("consume", f"made-{kind}", "--json").splitlines()]
    assert len(records) == 50 and all(record["key"] for record in records)
    assert all(set(json.loads(record["value"])) == columns for record in records)


def test_generated_records_end_with_their_seconds(up: Up) -> None:
    said = up.run("produce", "made-short", "--generate", "clicks", "--rate", "100", "--seconds", "0.5", "--json")
    assert json.loads(said)["records"] <= 50
    refused = command("produce", "x", "--count", "5", "--kafka", up.kafka)
    assert refused.returncode == 2 and "--generate" in refused.stderr


def test_top_shows_warnings_first_and_topics(up: Up) -> None:
    up.run("produce", "watched", text="a\nb\n")
    done = command("top", "--once", "--http", up.http)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("! ") and "--no-pipeline" in done.stdout
    assert "records in" in done.stdout and "watched" in done.stdout
    looked = json.loads(command("top", "--json", "--http", up.http).stdout)
    assert set(looked) == {"summary", "traffic", "topics"}


def test_doctor_has_a_verdict_and_advice_for_every_part(up: Up) -> None:
    flags = ["--set", f"data={up.data}", "--set", f"kafka.listeners={up.kafka}", "--http", up.http]
    done = command("doctor", "--json", *flags)
    found = {check["part"]: check for check in json.loads(done.stdout)}
    assert found["database"]["verdict"] == "good" and "sqlite" in found["database"]["found"]
    assert found["object store"]["verdict"] == "good"
    assert found["Kafka's port"]["verdict"] == "note" and "in use" in found["Kafka's port"]["found"]
    assert found["catalog"]["verdict"] == "note" and "pipeline" in found["catalog"]["found"]
    assert done.returncode == (1 if any(check["verdict"] == "bad" for check in found.values()) else 0)


def test_doctor_tells_a_missing_java_and_a_dead_database(monkeypatch: pytest.MonkeyPatch, up: Up) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    where = ["--set", "metadata=postgresql://127.0.0.1:1/lake", "--http", "127.0.0.1:1"]
    done = command("doctor", "--json", *where)
    found = {check["part"]: check for check in json.loads(done.stdout)}
    assert found["java"]["verdict"] == "bad" and "openjdk-17" in found["java"]["advice"]
    assert found["database"]["verdict"] == "bad"
    assert found["catalog"]["verdict"] == "note" and "lakestream up" in found["catalog"]["advice"]
    assert done.returncode == 1


@pytest.mark.parametrize("words", EXAMPLES)
def test_the_help_of_a_command_has_an_example(words: str) -> None:
    done = command(*words.split(), "--help")
    assert done.returncode == 0, done.stderr
    assert "Example: lakestream " + words in " ".join(done.stdout.split())


def test_a_shell_completes_commands() -> None:
    asked = {"_LAKESTREAM_COMPLETE": "complete_bash", "COMP_WORDS": "lakestream do", "COMP_CWORD": "1"}
    run = "import sys; sys.argv = ['lakestream']; from lakestream.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", run], cwd=ROOT, env={**environment(), **asked, "PATH": os.environ["PATH"]},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.split() == ["doctor"], done.stderr
