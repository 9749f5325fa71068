"""The turn to write: a lock file next to the database, shared by all processes that use it.

SQLite has its own write lock, but releases it before the checkpoint that follows a commit. Versions before 3.51.3 can
corrupt a file when a checkpoint of one process meets a commit of another ("the WAL-reset bug", sqlite.org/wal.html).
Holding the turn over both closes that gap. It is also a cheaper queue: SQLite's waiters sleep for up to 100 ms between
tries.
"""

import fcntl
import os
from contextlib import suppress
from typing import Protocol


class WriterTurn(Protocol):
    def take(self) -> bool:
        """Try to take the turn. False: another process has it."""
        ...

    def give_back(self) -> None: ...

    def close(self) -> None: ...


class FileTurn:
    """An advisory lock on `path`. The kernel releases it when its holder dies."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def take(self) -> bool:
        with suppress(BlockingIOError):
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    def give_back(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._file)


class AlwaysOurTurn:
    """For a database in memory, which no other process shares."""

    def take(self) -> bool:
        return True

    def give_back(self) -> None:
        pass

    def close(self) -> None:
        pass
