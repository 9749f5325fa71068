"""lakestream quota: what is set is listed, and what cannot be meant is refused."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakestream.cli.commands.access.quota import app


def run(folder: Path, *args: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*args, "--set", f"data={folder}"])
    return result.exit_code, result.output + str(result.exception or "")


def test_quotas_are_set_listed_and_removed(tmp_path: Path) -> None:
    assert run(tmp_path, "set", "--user", "alice", "--produce", "10MiB", "--fetch", "500KB")[0] == 0
    assert run(tmp_path, "set", "--user", "*", "--client", "app", "--request-percentage", "50")[0] == 0
    assert json.loads(run(tmp_path, "list", "--json")[1]) == [
        {"user": "*", "client_id": "app", "quota": "request_percentage", "per_second": 50.0},
        {"user": "alice", "client_id": None, "quota": "consumer_byte_rate", "per_second": 500_000.0},
        {"user": "alice", "client_id": None, "quota": "producer_byte_rate", "per_second": 10 * 2**20},
    ]
    assert "user alice" in run(tmp_path, "list")[1]
    assert run(tmp_path, "remove", "--user", "alice")[0] == 0
    assert [each["user"] for each in json.loads(run(tmp_path, "list", "--json")[1])] == ["*"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["set", "--produce", "1"], "whose quota"),
        (["set", "--user", "alice"], "how much"),
        (["set", "--user", "alice", "--produce", "fast"], "no number of bytes"),
        (["set", "--user", "alice", "--produce", "0"], "above 0"),
        (["remove", "--user", "nobody"], "has no quota"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    code, output = run(tmp_path, *arguments)
    assert code != 0 and said in output
