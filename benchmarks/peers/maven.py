"""Jars by Maven coordinates, fetched on first use and kept.

    fetch(folder, ["org.apache.kafka:kafka-tools:4.3.1", ...]) -> folder/libs, with everything they need

Coordinates are group:artifact:version, with :classifier where the jar has one.

An interrupted download is never used: jars arrive in a folder of their own, which is renamed when it is whole.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

FETCH_S_MAX = 300
CACHE = Path(__file__).resolve().parents[2] / ".cache"


class Unavailable(Exception):
    """A program or a download that this needs is not here. The message says which, and how to get it."""


def program(name: str) -> str:
    """The path of a program this machine must have."""
    path = shutil.which(name)
    if path is None:
        raise Unavailable(f"{name} is not on the PATH of this machine")
    return path


def fetch(folder: Path, coordinates: Sequence[str], *, without: Sequence[str] = ()) -> Path:
    """The folder of the jars. `without`: groups (or group:artifact) that must not come along, such as Spark's own."""
    libs = folder / "libs"
    if libs.is_dir():
        return libs
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(_pom(folder.name, coordinates, without))
    arriving = folder / f"libs.{os.getpid()}"
    command = [program("mvn"), "-q", "-B", "-f", str(folder / "pom.xml"), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={arriving}"]
    fetched = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_S_MAX)
    if fetched.returncode:
        said = (fetched.stdout or fetched.stderr)[-400:]
        raise Unavailable(f"Maven could not fetch {', '.join(coordinates)}: {said}")
    if not libs.is_dir():
        arriving.rename(libs)
    return libs


def _pom(name: str, coordinates: Sequence[str], without: Sequence[str]) -> str:
    exclusions = "".join(_exclusion(*[*each.split(":"), "*"][:2]) for each in without)
    dependencies = "\n".join(_dependency(each, exclusions) for each in coordinates)
    return (
        "<project><modelVersion>4.0.0</modelVersion>\n"
        f"<groupId>peers</groupId><artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging>\n"
        f"<dependencies>\n{dependencies}\n</dependencies></project>\n"
    )


def _dependency(coordinates: str, exclusions: str) -> str:
    group, artifact, version, *classifier = coordinates.split(":")
    classified = "".join(f"<classifier>{one}</classifier>" for one in classifier)
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
        f"{classified}<exclusions>{exclusions}</exclusions></dependency>"
    )


def _exclusion(group: str, artifact: str) -> str:
    return f"<exclusion><groupId>{group}</groupId><artifactId>{artifact}</artifactId></exclusion>"
