"""Redirects stderr of Java and Spark to a file, which is read only if they do not start.

Otherwise a command would answer one question with a screen of warnings and lists of packages. Later errors that matter
reach Python as exceptions.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

_STDERR = 2
_SAID_BYTES_MAX = 64 * 1024
_LINES_SHOWN = 3
_SIGNS_OF_A_CAUSE = ("Exception", "Error", "error", "unresolved", "not found")


class Said:
    """The text that Java wrote, as long as the file is open."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def why(self) -> str:
        """The lines that name a cause; if there are none, the last ones. Empty if nothing was written."""
        end = self._file.seek(0, os.SEEK_END)
        self._file.seek(max(0, end - _SAID_BYTES_MAX))
        lines = [line.strip() for line in self._file.read().decode(errors="replace").splitlines() if line.strip()]
        causes = [
            line for line in lines if not line.startswith("at ") and any(map(line.__contains__, _SIGNS_OF_A_CAUSE))
        ]
        return "; ".join((causes or lines)[-_LINES_SHOWN:])


@contextmanager
def quiet_java() -> Iterator[Said]:
    """Processes started inside this context write to the file for as long as they live."""
    with tempfile.TemporaryFile() as file:
        sys.stderr.flush()
        before = os.dup(_STDERR)
        os.dup2(file.fileno(), _STDERR)
        try:
            yield Said(file)
        finally:
            sys.stderr.flush()
            os.dup2(before, _STDERR)
            os.close(before)
