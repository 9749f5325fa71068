"""The programs of examples/ run as they are against a running Lakestream."""

import subprocess
import sys

from tests.integration.up_process import ROOT, Up, environment

RUN_SECONDS_MAX = 120
RUN_HERE = {"produce_and_consume", "avro_with_registry", "query_with_pyiceberg", "query_over_http"}
RUN_BY_THE_DEMO = {"tour"}


def run(example: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{example}.py"), *arguments],
        cwd=ROOT,
        env={**environment(), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_run_by_a_test_and_listed() -> None:
    found = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert found == RUN_HERE | RUN_BY_THE_DEMO
    listed = (ROOT / "examples" / "README.md").read_text()
    assert all(f"({name}.py)" in listed for name in found)


def test_what_one_example_produces_the_others_query(up: Up) -> None:
    gateway = f"http://{up.http}"
    assert "consumed 20 records" in run("produce_and_consume", up.kafka)
    up.run("compact", "example-orders")
    assert run("query_with_pyiceberg", gateway).splitlines() == ["SKU-0 20", "SKU-1 22", "SKU-2 18"]
    assert run("query_over_http", gateway).splitlines() == ["records", "20"]


def test_avro_becomes_typed_columns(up: Up) -> None:
    assert "example-payments-value" in run("avro_with_registry", up.kafka, f"http://{up.http}")
    up.run("compact", "example-payments")
    query = "SELECT count(*) AS n, sum(amount) AS total FROM example_payments"
    assert run("query_over_http", f"http://{up.http}", query).splitlines() == ["n total", "10 54.90"]
