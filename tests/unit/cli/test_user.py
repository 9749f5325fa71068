"""lakestream user: passwords come from files, are stored salted, and are never printed."""

from pathlib import Path

from typer.testing import CliRunner

from lakestream.cli.commands.access.user import app

PASSWORD = "correct horse"


def run(folder: Path, *args: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*args, "--set", f"data={folder}"])
    return result.exit_code, result.output + str(result.exception or "")


def test_users_are_added_listed_changed_and_removed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{PASSWORD}\n")
    data = tmp_path / "data"
    data.mkdir()
    seen = [run(data, "add", "alice", "--password-file", str(secret))]
    seen.append(run(data, "list"))
    assert "SCRAM-SHA-512" in seen[-1][1]
    seen.append(run(data, "password", "alice", "--password-file", str(secret)))
    assert [code for code, _ in seen] == [0, 0, 0]
    assert run(data, "add", "alice", "--password-file", str(secret))[0] != 0, "there is one"
    assert run(data, "password", "bob", "--password-file", str(secret))[0] != 0, "there is none"
    assert run(data, "add", "x" * 10_000, "--password-file", str(secret))[0] != 0
    assert run(data, "add", "carol")[0] != 0, "no terminal"
    assert run(data, "remove", "alice")[0] == 0
    assert "alice" not in run(data, "list", "--json")[1]
    assert all(PASSWORD not in output for _, output in seen)
    assert PASSWORD.encode() not in b"".join(file.read_bytes() for file in data.iterdir() if file.is_file())
