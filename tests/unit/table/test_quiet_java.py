"""Spark for a command: its warnings are nobody's business, and why it did not start is."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lakestream.table.spark.quiet_java import quiet_java

ASKED = """
from lakestream.table.spark.lake_session import NoSpark, lake_session
from lakestream.table.spark.remote_files import remote_files
try:
    with lake_session("http://127.0.0.1:1", name="test", master="local[1]", files=remote_files("file:///x", {})):
        print("started")
except NoSpark as error:
    print(error)
"""


def said(script: str) -> str:
    with quiet_java() as told:
        subprocess.run(["sh", "-c", script], check=True)
        return told.why()


def test_what_is_said_within_is_kept_and_what_is_said_after_is_heard(capfd: pytest.CaptureFixture[str]) -> None:
    assert said("echo noise >&2") == "noise"
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "heard\n"


def test_causes_are_told_and_stacks_are_not() -> None:
    told = said("echo WARN: a >&2; echo 'Exception in thread main: no room' >&2; echo '  at x.Error.y' >&2; echo b >&2")
    assert told == "Exception in thread main: no room"
    assert said("true") == ""


def test_a_long_story_is_read_from_its_end() -> None:
    assert said("head -c 300000 /dev/zero | tr '\\0' '\\n' >&2; echo 'Error: the end' >&2") == "Error: the end"


def test_a_java_that_does_not_start_is_quoted(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho noise >&2\necho 'Error: could not reserve enough space' >&2\nexit 1\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", ASKED], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "Spark did not start: Error: could not reserve enough space\n"
    assert done.stderr == ""
