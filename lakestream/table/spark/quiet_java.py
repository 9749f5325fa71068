"""Java without its voice: what it and Spark write to stderr goes to a file, which is looked at where they do not start.

A command that is asked one thing would otherwise answer with a screen of warnings and lists of packages. Whatever
matters of what happens later reaches Python as an error.
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
    """What was written, as long as the file is open."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def why(self) -> str:
        """The lines that tell a cause; if none does, the last ones. Empty if nothing was said."""
        end = self._file.seek(0, os.SEEK_END)
        self._file.seek(max(0, end - _SAID_BYTES_MAX))
        lines = [line.strip() for line in self._file.read().decode(errors="replace").splitlines() if line.strip()]
        causes = [
            line for line in lines if not line.startswith("at ") and any(map(line.__contains__, _SIGNS_OF_A_CAUSE))
        ]
        return "; ".join((causes or lines)[-_LINES_SHOWN:])


@contextmanager
def quiet_java() -> Iterator[Said]:
    """Processes that are begun within write to the file for as long as they live."""
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
