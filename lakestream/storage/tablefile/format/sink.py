"""The destination of a table file's bytes as they are written: a file, or memory."""

from typing import Protocol

from lakestream.world.objects.store import Buffer


class Sink(Protocol):
    """Takes the file's bytes in order: a file opened for writing, or `Parts`."""

    def write(self, data: bytes, /) -> int: ...

    def flush(self) -> None: ...


class Parts:
    """A sink in memory: the pieces as they come, ready for a put."""

    def __init__(self) -> None:
        self.parts: list[Buffer] = []

    def write(self, data: bytes, /) -> int:
        self.parts.append(data)
        return len(data)

    def flush(self) -> None:
        pass
