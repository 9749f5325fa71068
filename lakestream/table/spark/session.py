"""The pipeline's Spark session, one for its whole life. A cold one takes some seconds, a warm round less than one.

With a local master everything listens on the loopback interface. Workers are this very Python, or the one that
`spark.pyspark.python` names on a cluster, forked from a process that has loaded the rewriting code (worker_daemon.py),
so that a new worker is ready at once. No jars: records never enter the JVM.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from lakestream.table.spark.class_archive import archive_options

TASK_ATTEMPTS_MAX = 4
"""A killed worker does not end the round: Spark starts its task again."""
_LOOPBACK = "127.0.0.1"
_LOCAL_ADDRESSES = {"spark.driver.bindAddress": _LOOPBACK, "spark.driver.host": _LOOPBACK}
"""For a local master only. On a cluster, executors must reach the driver, which listens where Spark's settings say."""
_LOCAL = re.compile(r"local(\[([^,\]]+)\])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkLimits:
    master: str
    driver_memory: str
    conf: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Spark's own settings. They go before ours."""


def open_session(
    limits: SparkLimits, *, name: str = "lakestream-pipeline", java_options: str | None = None
) -> SparkSession:
    """Blocks for three seconds, or twice as long if Java has no class archive (class_archive.py)."""
    if is_local(limits.master):
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    name_the_pythons(limits.conf)
    builder: SparkSession.Builder = SparkSession.builder
    session = builder.master(_with_attempts(limits.master)).appName(name)
    for setting, value in _settings(limits, archive_options() if java_options is None else java_options).items():
        session = session.config(setting, value)
    return session.getOrCreate()


_WORKERS_ENVIRONMENT = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(32 * 1024 * 1024),
    "MALLOC_TRIM_THRESHOLD_": str(1024 * 1024 * 1024),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""A worker's tasks need about the same memory one after the other. Returning and faulting it in again would take a
tenth of its time. Spark ends workers that are idle for a minute, which returns it.
"""


def _settings(limits: SparkLimits, java_options: str) -> dict[str, str]:
    return {
        "spark.driver.memory": limits.driver_memory,
        # Java only hands out tasks: its heavy compiler and a collector of many threads cost more than they gain.
        # These go before the extraJavaOptions of `conf`.
        "spark.driver.defaultJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {java_options}",
        **local_addresses(limits.master),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "1",
        # The plan has one step that runs once: generating code for it, or optimizing it again, takes longer than
        # running it.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.python.daemon.module": "lakestream.table.spark.worker_daemon",
        "spark.python.worker.reuse": "true",
        "spark.speculation": "false",
        "spark.task.maxFailures": str(TASK_ATTEMPTS_MAX),
        # Tasks go out with the function that runs them, even megabytes per round. Spark would write large ones to a
        # file for each round, and delete the file when Java next happens to collect its garbage.
        "spark.broadcast.UDFCompressionThreshold": "1g",
        "spark.cleaner.periodicGC.interval": "10min",
        **{f"spark.executorEnv.{name}": value for name, value in _WORKERS_ENVIRONMENT.items()},
        **limits.conf,
    }


def is_local(master: str) -> bool:
    """Whether Spark runs on this machine alone."""
    return _LOCAL.fullmatch(master) is not None


def local_addresses(master: str) -> Mapping[str, str]:
    """Settings that keep Spark on this machine if its master is local. A cluster's workers must reach the driver."""
    return _LOCAL_ADDRESSES if is_local(master) else {}


def name_the_pythons(conf: Mapping[str, str]) -> None:
    """Workers run this Python unless `conf` names theirs, which may lie elsewhere on other machines. PySpark reads it
    from the environment; only spark-submit would read the setting."""
    os.environ["PYSPARK_PYTHON"] = conf.get("spark.pyspark.python", sys.executable)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable


def _with_attempts(master: str) -> str:
    """`local[*]` gives up at the first failure of a task; `local[*,4]` does not."""
    found = _LOCAL.fullmatch(master)
    return f"local[{found[2] or 1},{TASK_ATTEMPTS_MAX}]" if found else master
