"""Java's class archive: used where it is, passed over where it does not fit."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lakestream.table.spark.class_archive import archive_options, archive_path

JAVA = shutil.which("java")


def test_without_an_archive_java_is_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert archive_options() == ""


@pytest.mark.skipif(JAVA is None, reason="no Java here")
def test_java_starts_and_says_nothing_about_an_archive_that_is_not_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "with a blank"))
    archive_path().parent.mkdir(parents=True)
    archive_path().write_bytes(b"made by someone else" * 1000)
    assert str(archive_path()) in archive_options()
    plain, archived = (
        subprocess.run([str(JAVA), *shlex.split(options), "--version"], capture_output=True, text=True, timeout=60)
        for options in ("", archive_options())
    )
    assert (archived.returncode, archived.stderr) == (0, plain.stderr)
    assert archived.stdout.splitlines()[0] == plain.stdout.splitlines()[0]
