"""Locks a data folder for one `lakestream up`, as long as any of its processes runs.

The lock is on an open file which the parts inherit. When the supervisor is killed, its parts drain first, and a new
start waits for them. While the supervisor lives, the folder is in use.
"""

import fcntl
import os
from pathlib import Path

from lakestream.cli.failures import CommandFailed
from lakestream.world.clock import Clock

_NAME = "lock"
_WAIT_SECONDS_MAX = 30.0
_LOOK_SECONDS = 0.1
_REASONS: dict[type[OSError], str] = {
    FileExistsError: "it is a file. Name a folder with --data",
    NotADirectoryError: "a part of its path is a file. Name a folder with --data",
    PermissionError: "this user may not write there. Change who may, or name another folder with --data",
}


async def lock_data(folder: Path, clock: Clock) -> int:
    """A file descriptor that holds the lock. Raises CommandFailed when the folder is in use."""
    descriptor = _opened(folder)
    deadline = clock.monotonic() + _WAIT_SECONDS_MAX
    while not _taken(descriptor):
        holder = _holder(descriptor)
        if clock.monotonic() > deadline or _is_alive(holder):
            os.close(descriptor)
            raise CommandFailed(
                f"the data folder {folder} is in use by another `lakestream up`"
                f"{f' (process {holder})' if holder else ''}; stop that one, or name another folder with --data"
            )
        await clock.sleep(_LOOK_SECONDS)
    _sign(descriptor, folder)
    return descriptor


def _opened(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _unusable(folder, error) from None


def _sign(descriptor: int, folder: Path) -> None:
    """Write the holder of the lock."""
    process = str(os.getpid()).encode()
    try:
        os.pwrite(descriptor, process, 0)
        os.ftruncate(descriptor, len(process))
    except OSError as error:
        os.close(descriptor)
        raise _unusable(folder, error) from None


def _unusable(folder: Path, error: OSError) -> CommandFailed:
    return CommandFailed(f"the data folder {folder} cannot be used: {_REASONS.get(type(error)) or error.strerror}")


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0)
    return int(text) if text.isdigit() else None


def _is_alive(process: int | None) -> bool:
    if process is None:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
