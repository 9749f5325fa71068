"""A PostgreSQL server of our own, for the length of a test run.

    initdb in a temporary folder -> start on a free port -> its URL -> stop by pg_ctl, folder removed

PostgreSQL refuses to run as root, so root drops to the user `postgres` first.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.ports import free_port

_SUPERUSER = "lakestream"
_SECONDS_MAX = 60


def missing_server() -> str | None:
    """Why there can be no server here, or None."""
    if _binaries() is None:
        return (
            "no PostgreSQL server here: install the package 'postgresql' (initdb was looked for by pg_config --bindir)"
        )
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL does not run as root, and setpriv (package 'util-linux') is not here to drop it"
    return None


@contextmanager
def postgres_server(*, durable: bool = False) -> Iterator[str]:
    """The URL of a new, empty server. Unless `durable` it does not fsync: quicker, and enough for tests."""
    binaries = _binaries()
    assert binaries is not None
    folder = Path(tempfile.mkdtemp(prefix="lakestream-postgres-"))
    try:
        _let_server_user_own(folder)
        data = folder / "data"
        _run([binaries / "initdb", "-D", data, "-U", _SUPERUSER, "-A", "trust", "-E", "UTF8", "--no-sync"])
        port = free_port()
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync={'on' if durable else 'off'}"
        _run([binaries / "pg_ctl", "-D", data, "-l", folder / "log", "-w", "-o", options, "start"])
        try:
            yield f"postgresql://{_SUPERUSER}@127.0.0.1:{port}/postgres"
        finally:
            _run([binaries / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def cut_connections(url: str) -> int:
    """End every other client's connection, as a failing network or a restart would, and wait until they are ended.

    Returns how many there were.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            f"SELECT pg_terminate_backend(pid, {_SECONDS_MAX * 1000}) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND application_name = 'lakestream'"
        ).fetchall()
    return len(rows)


def _binaries() -> Path | None:
    candidates = [Path(folder) for folder in sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)]
    if (pg_config := shutil.which("pg_config")) is not None:
        asked = subprocess.run(
            [pg_config, "--bindir"], capture_output=True, text=True, check=True, timeout=_SECONDS_MAX
        )
        candidates.insert(0, Path(asked.stdout.strip()))
    if (initdb := shutil.which("initdb")) is not None:
        candidates.append(Path(initdb).parent)
    return next((folder for folder in candidates if (folder / "initdb").exists()), None)


def _let_server_user_own(folder: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")


def _run(command: Sequence[str | Path]) -> None:
    words = [str(word) for word in command]
    if os.geteuid() == 0:
        words = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *words]
    # Not captured through pipes: the server inherits them, and reading would wait for its end.
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(words, stdout=said, stderr=said, timeout=_SECONDS_MAX, cwd="/")
        if done.returncode != 0:
            said.seek(0)
            raise RuntimeError(f"{words} failed: {said.read().decode(errors='replace')}")
