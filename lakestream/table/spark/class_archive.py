"""Java's classes as they are once loaded and checked, kept in a file that the next Java maps (AppCDS).

Spark loads ten thousand classes before it does anything, which is half of the time that it takes to start. `warm.py`
makes the file, at set-up; who starts Spark passes `archive_options()`. Java compares the file with itself and with
Spark's jars, and does without it where it was made by others: then it starts as if there were none.
"""

import sys
from pathlib import Path

import pyspark

_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"
"""A file that does not fit is no reason to worry anyone who looks at the logs."""


def archive_path() -> Path:
    """With the installation whose Spark it was made for."""
    return Path(sys.prefix) / "var" / "lakestream" / f"spark-{pyspark.__version__}.jsa"


def archive_options() -> str:
    """For Java's command line, in quotes that Spark takes away, since a path may have blanks; nothing where there is no
    archive."""
    return f'"-XX:SharedArchiveFile={archive_path()}" {_QUIET}' if archive_path().exists() else ""


def archiving_options(arriving: Path) -> str:
    """With these Java writes such a file when it ends."""
    return f'"-XX:ArchiveClassesAtExit={arriving}" {_QUIET}'
