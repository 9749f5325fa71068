"""`make demo` as a newcomer runs it: every step succeeds, shows what it says, and nothing stays behind."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.up_process import ROOT, environment
from tests.spark_session import missing_spark

TOUR_SECONDS_MAX = 300


@pytest.mark.skipif(missing_spark() is not None, reason=str(missing_spark()))
def test_the_tour_shows_one_topic_as_log_and_as_table(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "tour.py")],
        env={**environment(), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=TOUR_SECONDS_MAX,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    steps = done.stdout.split("$ lakestream ")[1:]
    answers = [step.partition("\n")[2].split() for step in steps]
    _, produced, inserted, both, _, revenue, deleted, table, log, consumed, verified, status = answers
    assert "topic 'orders' made: 1 partition, values are json\n" in done.stderr
    assert produced[:2] == ["1000", "records,"]
    assert inserted[1] == "2"
    assert [int(id) for id in re.findall(r'"id": ?(\d+)', " ".join(both))] == [998, 999, 1000, 1001]
    assert [revenue[at] for at in (4, 8, 12, 16, 20)] == ["beans", "cocoa", "coffee", "milk", "tea"]
    assert (deleted[1], table[1], log[1]) == ("250", "752", "1002")
    assert consumed[:2] == ['{"id":', "0,"]
    assert "same" in verified
    assert re.search(r"streams\.orders 0 10s \d [\d.]+ K?i?B [\d.]+ K?i?B ", " ".join(status)), status
    assert list(tmp_path.glob("lakestream-tour-*")) == []
