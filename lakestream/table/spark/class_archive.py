"""An archive of loaded and verified Java classes that the next Java process maps (AppCDS).

Spark loads ten thousand classes before it does anything, which is half of its start time. `warm.py` makes the archive
at set-up, and code that starts Spark passes `archive_options()`. Java compares the archive with itself and with Spark's
jars. If it was made by others, Java ignores it and starts as if there were none.
"""

import sys
from pathlib import Path

import pyspark

_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"
"""An archive that does not fit is no reason to worry readers of the logs."""


def archive_path() -> Path:
    """Lies with the installation whose Spark it was made for."""
    return Path(sys.prefix) / "var" / "lakestream" / f"spark-{pyspark.__version__}.jsa"


def archive_options() -> str:
    """Options for Java's command line; empty if there is no archive. Quoted, since a path may contain blanks."""
    return f'"-XX:SharedArchiveFile={archive_path()}" {_QUIET}' if archive_path().exists() else ""


def archiving_options(arriving: Path) -> str:
    """Options with which Java writes an archive when it ends."""
    return f'"-XX:ArchiveClassesAtExit={arriving}" {_QUIET}'
