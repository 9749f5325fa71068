"""Iceberg's own compatibility kit for REST catalogs, from Maven Central: JUnit classes that ask a running catalog.

    run("RESTCompatibilityKitCatalogTests", uri, folder) -> Verdicts(passed, not_run, failed)

The kit refuses to start on leftovers of an earlier class, so each class gets a catalog and a JVM of its own.
"""

import fcntl
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.peers import maven

VERSION = "1.11.0"
"""The newest that Maven Central has: 1.12.0 came without the kit."""
CACHE = maven.CACHE / f"iceberg-kit-{VERSION}"
COORDINATES = [
    f"org.apache.iceberg:iceberg-open-api:{VERSION}:tests",
    f"org.apache.iceberg:iceberg-open-api:{VERSION}:test-fixtures",
    f"org.apache.iceberg:iceberg-core:{VERSION}",
    f"org.apache.iceberg:iceberg-core:{VERSION}:tests",
    f"org.apache.iceberg:iceberg-api:{VERSION}:tests",
    "org.apache.hadoop:hadoop-client-api:3.4.1",
    "org.apache.hadoop:hadoop-client-runtime:3.4.1",
    "org.assertj:assertj-core:3.27.3",
    "org.awaitility:awaitility:4.3.0",
    "org.mockito:mockito-core:4.11.0",
    "org.slf4j:slf4j-simple:2.0.17",
    "org.junit.platform:junit-platform-console-standalone:1.11.4",
]
OPTIONS = {
    "rck.requires-namespace-create": "true",
    "rck.supports-serverside-retry": "true",
    "rck.supports-names-with-dot": "true",
}
RUN_S_MAX = 300

FIXED_FOLDERS = (Path("/tmp/ns"), Path("/tmp/newdb"))
"""The kit asks for tables below these, on every machine."""
_LOCK = Path("/tmp/lakestream-iceberg-kit.lock")


@dataclass
class Verdicts:
    """Names of the kit's tests; those that failed with the reason; how many passed, repeats with other values too."""

    passed: int = 0
    not_run: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)


def run(test_class: str, uri: str, folder: Path) -> Verdicts:
    """`folder` takes the kit's temporary files and its report. Raises Unavailable without Java or Maven."""
    java, libs = maven.program("java"), maven.fetch(CACHE, COORDINATES)
    given = {**OPTIONS, "uri": uri, "java.io.tmpdir": str(folder), "org.slf4j.simpleLogger.defaultLogLevel": "error"}
    command = [
        java,
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        *(f"-D{key}={value}" for key, value in given.items()),
    ]
    command += ["-cp", f"{libs}/*", "org.junit.platform.console.ConsoleLauncher", "execute"]
    command += ["--select-class", f"org.apache.iceberg.rest.{test_class}", "--config", "rck.local=false"]
    command += ["--reports-dir", str(folder), "--details", "none", "--disable-banner"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S_MAX)
    report = folder / "TEST-junit-jupiter.xml"
    assert report.exists(), f"the kit did not run:\n{done.stdout[-2_000:]}\n{done.stderr[-2_000:]}"
    return _verdicts(report)


@contextmanager
def fixed_folders() -> Iterator[list[str]]:
    """The URLs of the folders that the kit uses on every machine: one run at a time has them, and they go with it."""
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield [folder.as_uri() for folder in FIXED_FOLDERS]
        finally:
            for folder in FIXED_FOLDERS:
                shutil.rmtree(folder, ignore_errors=True)


def _verdicts(report: Path) -> Verdicts:
    found = Verdicts()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = str(case.get("name")).partition("(")[0]
        problems = [child for child in case if child.tag in ("failure", "error")]
        if problems:
            found.failed[name] = str(problems[0].get("message"))
        elif case.find("skipped") is not None:
            found.not_run.add(name)
        else:
            found.passed += 1
    return found
