"""A Spark session for commands that reads tables through the catalog, as a stock Spark with Iceberg does.

This is not the pipeline's session (session.py). It has Iceberg's library in the JVM, ends with the command, and asks
the catalog again for every query.
"""

import logging
import os
import re
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from lakestream.model.errors import Unavailable
from lakestream.table.spark.catalog import catalog_settings, library_settings
from lakestream.table.spark.class_archive import archive_options
from lakestream.table.spark.quiet_java import quiet_java
from lakestream.table.spark.remote_files import RemoteFiles
from lakestream.table.spark.session import local_addresses, name_the_pythons

_QUERY_LOGGER = "SQLQueryContextLogger"
"""pyspark logs a Java stack trace here for every wrong query. The user gets one sentence instead."""
_JAVA_CLASS = re.compile(r"^(?:[\w$]+\.)+[\w$]+: ")


class NoSpark(Unavailable):
    """Spark did not start. Its own message says why."""


@contextmanager
def lake_session(
    uri: str,
    *,
    name: str,
    master: str,
    conf: Mapping[str, str] | None = None,
    files: RemoteFiles,
    headers: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """A session with the catalog at `uri` as `lake`, asked with `headers`. Spark's own settings in `conf` go before
    ours. A running Spark is reused, in a session of its own, and keeps running."""
    PySparkLogger.getLogger(_QUERY_LOGGER).disabled = True
    running = SparkSession.getActiveSession()
    session = _open(name, master, conf or {}, files) if running is None else running.newSession()
    if running is None:
        _end_at_interrupt()
    for setting, value in catalog_settings(uri, files, headers or {}).items():
        session.conf.set(setting, value)
    try:
        yield session
    finally:
        if running is None:
            with suppress(Py4JError, OSError):  # Java may have been told to end as well, and be gone
                session.stop()


def _end_at_interrupt() -> None:
    """Make Ctrl-C end the command. Spark installs a handler that cancels its jobs first, which fails if Java got the
    signal as well; and py4j logs a stack before it passes the interrupt on."""
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.getLogger().addFilter(lambda record: not str(record.msg).startswith("KeyboardInterrupt"))


def first_line(error: BaseException) -> str:
    """The error without the plan and the stack that Spark adds."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def cause(error: BaseException) -> str:
    """The innermost reason that Java gives, in one line. Errors of the catalog arrive this way."""
    lines = str(error).splitlines()
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    thrown = [line.removeprefix(": ") for line in lines if line.startswith(": ")]
    return causes[-1] if causes else thrown[0] if thrown else first_line(error)


def without_class(reason: str) -> str:
    """`org.apache.iceberg.exceptions.ForbiddenException: Forbidden: ...` -> `Forbidden: ...`"""
    return _JAVA_CLASS.sub("", reason)


def _open(name: str, master: str, conf: Mapping[str, str], files: RemoteFiles) -> SparkSession:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise NoSpark("Spark needs Java 17 or later: install it, or set JAVA_HOME")
    name_the_pythons(conf)
    builder: SparkSession.Builder = SparkSession.builder
    builder = builder.master(master).appName(name)
    for setting, value in {**_settings(files), **local_addresses(master), **_with_ours(conf, files)}.items():
        builder = builder.config(setting, value)
    with quiet_java() as said:
        try:
            return builder.getOrCreate()
        except (PySparkException, Py4JError, OSError, RuntimeError) as error:
            raise NoSpark(f"Spark did not start: {said.why() or first_line(error)}") from error


def _with_ours(conf: Mapping[str, str], files: RemoteFiles) -> dict[str, str]:
    """`conf`, with our entries in front of its lists, which would replace ours."""
    lists = {name: value for name, value in library_settings(files).items() if name in conf}
    return {**conf, **{name: f"{value},{conf[name]}" for name, value in lists.items()}}


def _settings(files: RemoteFiles) -> dict[str, str]:
    return {
        **library_settings(files),
        "spark.driver.defaultJavaOptions": archive_options(),  # before the options of the user's own configuration
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
