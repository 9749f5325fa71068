"""lakestream acl: what is added is listed, explained and removed."""

import json
from pathlib import Path

from typer.testing import CliRunner

from lakestream.cli.commands.access.acl import app


def run(folder: Path, *args: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*args, "--set", f"data={folder}"])
    return result.exit_code, result.output


def test_an_acl_is_added_listed_explained_and_removed(tmp_path: Path) -> None:
    grant = ["User:alice", "Read", "Topic", "ord", "--prefix"]
    assert run(tmp_path, "add", *grant)[0] == 0
    (row,) = json.loads(run(tmp_path, "list", "--json")[1])
    assert (row["principal"], row["operation"], row["pattern"]) == ("User:alice", "Read", "prefixed")
    asked = ["explain", "User:alice", "describe", "topic", "orders"]
    assert run(tmp_path, *asked)[1].startswith("yes: an ACL allows it")
    assert run(tmp_path, "add", *grant, "--deny", "--host", "127.0.0.1")[0] == 0
    assert run(tmp_path, "explain", "User:alice", "Read", "Topic", "orders")[1].startswith("no: an ACL denies it")
    assert run(tmp_path, "remove", *grant, "--deny", "--host", "127.0.0.1")[0] == 0
    assert run(tmp_path, "remove", *grant)[0] == 0
    assert run(tmp_path, "remove", *grant)[0] != 0, "there is none"
    assert run(tmp_path, *asked)[1].startswith("no: no ACL allows it")


def test_what_is_no_acl_is_refused(tmp_path: Path) -> None:
    for wrong in (["alice", "Read", "Topic", "x"], ["User:a", "Eat", "Topic", "x"], ["User:a", "Read", "Fish", "x"]):
        assert run(tmp_path, "add", *wrong)[0] != 0
