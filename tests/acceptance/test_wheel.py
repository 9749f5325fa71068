"""The wheel: what a user installs has everything in it and runs without the source tree.

    copy of the sources -> wheel -> a fresh environment -> `lakestream up`

The dependencies are lent by the environment that runs the tests, so that nothing is downloaded for them.
"""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.integration.up_process import READY

ROOT = Path(__file__).parents[2]
BUILD_SECONDS_MAX = 120
START_SECONDS_MAX = 120
"""The record kernels are compiled on first use."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: building leaves folders behind."""
    folder = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "lakestream", folder / "lakestream", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", "dist", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS_MAX,
    )
    if "No matching distribution found for setuptools" in built.stdout + built.stderr:
        pytest.skip("a wheel is built with setuptools>=77, which is not here and cannot be downloaded")
    assert built.returncode == 0, built.stdout + built.stderr
    [found] = (folder / "dist").glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True, timeout=60)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def command(environment: Path, *arguments: str) -> "subprocess.Popen[str]":
    """`lakestream` of the fresh environment, from a folder without sources."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR", "LANG")}
    return subprocess.Popen(
        [str(environment / "bin" / "lakestream"), *arguments],
        cwd=environment.parent,
        env=kept,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(environment.parent / "stderr").open("a"),
        text=True,
    )


def run(environment: Path, *arguments: str, text: str = "") -> str:
    with command(environment, *arguments) as process:
        out, _ = process.communicate(text, timeout=START_SECONDS_MAX)
        assert process.returncode == 0, (environment.parent / "stderr").read_text()
        return out


def test_everything_that_is_no_module_is_in_the_wheel(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    kept = [path for path in (ROOT / "lakestream").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {str(path.relative_to(ROOT)) for path in kept} <= inside
    assert "lakestream/py.typed" in inside
    assert any(name.endswith(".sql") for name in inside)


def test_nothing_but_the_product_is_in_the_wheel(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"lakestream"}


def test_the_command_of_the_wheel_runs(environment: Path) -> None:
    assert "up" in run(environment, "--help")
    where = subprocess.run(
        [environment / "bin" / "python", "-c", "import lakestream; print(lakestream.__file__)"],
        cwd=environment.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(environment)


def test_up_of_the_wheel_serves(environment: Path) -> None:
    with command(environment, "up", "--no-pipeline", "--kafka", "127.0.0.1:0", "--http", "127.0.0.1:0") as up:
        try:
            assert up.stdout is not None
            ready = READY.match(up.stdout.readline())
            assert ready is not None, (environment.parent / "stderr").read_text()
            run(environment, "produce", "from-the-wheel", "--kafka", ready[1], text="one\ntwo\n")
            assert run(environment, "consume", "from-the-wheel", "--kafka", ready[1]) == "one\ntwo\n"
            assert (environment.parent / "lakestream-data").is_dir(), "in the folder it was started from"
            up.send_signal(signal.SIGTERM)
            assert up.wait(START_SECONDS_MAX) == 0
        finally:
            up.kill()
