"""Starts Spark once as the pipeline does, and archives the classes it has loaded: later starts take half the time.

python -m lakestream.table.spark.warm

Without Java this does nothing. Errors are reported and do no harm: Spark starts without the archive too.
"""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext

from lakestream.table.spark.class_archive import archive_path, archiving_options
from lakestream.table.spark.rewriter import SparkRewriter
from lakestream.table.spark.session import SparkLimits, open_session
from lakestream.world.threads import ThreadPool

_SECONDS_MAX = 120
"""Time limit for Java to write the file. It takes about five seconds."""


def warm() -> bool:
    """Returns whether there is an archive now."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return False
    path = archive_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    arriving = path.with_suffix(f".{os.getpid()}.arriving")  # renamed when complete: Java trusts what it finds
    try:
        _use_spark_once(arriving)
        if arriving.exists():
            arriving.replace(path)
    finally:
        arriving.unlink(missing_ok=True)
    return path.exists()


def _use_spark_once(arriving: Path) -> None:
    limits = SparkLimits(master="local[2]", driver_memory="512m")
    session = open_session(limits, name="lakestream-warm", java_options=archiving_options(arriving))
    threads = ThreadPool(1, "spark")
    asyncio.run(SparkRewriter(session, threads).warm_up())
    threads.close()
    gateway = SparkContext._gateway
    session.stop()
    assert gateway is not None, "a session has one"
    java: subprocess.Popen[bytes] = gateway.proc
    assert java.stdin is not None, "Java is told by it when to end"
    java.stdin.close()
    java.wait(_SECONDS_MAX)


def main() -> None:
    try:
        print("Spark's classes are kept" if warm() else "Spark's classes are not kept: there is no Java here")
    except (OSError, RuntimeError, Py4JError, subprocess.TimeoutExpired) as error:
        print(f"Spark's classes are not kept: {error}")


if __name__ == "__main__":
    main()
