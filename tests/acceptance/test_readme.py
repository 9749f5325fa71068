"""The README's Python, run as it is written there against a running Lakestream: only the address is another."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.up_process import ROOT, Up, environment

SNIPPET = re.compile(r"```python\n(.*?)```", re.DOTALL)
ADDRESS = "127.0.0.1:9092"
RUN_SECONDS_MAX = 60


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with Up(tmp_path_factory.mktemp("readme") / "data") as running:
        yield running
        assert running.stop() == 0


def test_the_first_snippet_writes_a_record_and_reads_it_back(up: Up, tmp_path: Path) -> None:
    written, *more = SNIPPET.findall((ROOT / "README.md").read_text())
    assert more == [], "a snippet that nobody tries"
    assert ADDRESS in written
    script = tmp_path / "snippet.py"
    script.write_text(written.replace(ADDRESS, up.kafka))
    run = [sys.executable, str(script)]
    done = subprocess.run(run, env=environment(), capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == """0 b'42' b'{"sku": "SKU-1", "quantity": 3}'"""
