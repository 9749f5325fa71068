"""The guide's commands for backup and restore, run as they are written while records arrive."""

import json
import re
import shutil
import subprocess
from pathlib import Path

from tests.integration.tables.lake import running_lake
from tests.integration.up_process import ROOT, Up, command, environment

SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
RUN_SECONDS_MAX = 60


def shell(text: str, folder: Path) -> None:
    done = subprocess.run(
        ["sh", "-euc", text], cwd=folder, env=environment(), capture_output=True, text=True, timeout=RUN_SECONDS_MAX
    )
    assert done.returncode == 0, done.stderr


def test_a_backup_of_a_running_lakestream_restores_the_log_and_the_table(tmp_path: Path) -> None:
    backup, restore = SHELL.findall((ROOT / "docs" / "guide" / "backup.md").read_text())
    data = tmp_path / "lakestream-data"
    data.mkdir()
    with running_lake(data) as lake:
        lake.produce("orders", [b'{"id": %d}' % number for number in range(20)])
        lake.compact()
        lake.produce("orders", [b'{"id": %d}' % number for number in range(20, 30)])  # in the log, not in the table
        shell(backup, tmp_path)
        lake.produce("orders", [b'{"id": 30}'])
        lake.compact()
    shell(restore, tmp_path)
    shutil.rmtree(tmp_path / "lakestream-data.broken")
    with Up(data) as up:
        read = up.run("consume", "orders", "--from", "earliest", "--max", "30", "--json").splitlines()
        assert [json.loads(json.loads(line)["value"])["id"] for line in read] == list(range(30))
        rows = command("sql", "SELECT count(*) AS n, max(id) AS last FROM orders", "--json", "--http", up.http)
        assert json.loads(rows.stdout) == [{"n": 20, "last": 19}], rows.stderr
        up.run("produce", "orders", text='{"id": "again"}\n')
        newest = up.run("consume", "orders", "--from", "30", "--max", "1", "--json")
        assert json.loads(newest)["offset"] == 30, "offsets after the backup are given again"
        assert up.stop() == 0
