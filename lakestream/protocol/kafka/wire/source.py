"""ModuleText: write Python source by program (lines, indentation, fresh names) and compile it in one place.

The generated functions are flat (no call per field), which makes them fast. `function.__source__` keeps the text for
people who want to read it.
"""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class ModuleText:
    """A module being written. `names` are the names its code can use."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
        self._lines: list[str] = []
        self._depth = 0
        self._fresh = 0

    def line(self, text: str) -> None:
        self._lines.append(" " * self._depth + text)

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        self.line(opening)
        self._depth += 1
        yield
        self._depth -= 1

    def fresh(self, prefix: str) -> str:
        """A variable name that nothing else uses. Blocks nest freely, so none may be shared."""
        self._fresh += 1
        return f"{prefix}{self._fresh}"

    def constant(self, prefix: str, value: Any) -> str:
        name = self.fresh(prefix)
        self.names[name] = value
        return name

    def packer(self, formats: str) -> str:
        name = "pack_" + formats.replace("?", "o")
        self.names.setdefault(name, struct.Struct(">" + formats).pack)
        return name

    def unpacker(self, formats: str) -> str:
        name = "unpack_" + formats.replace("?", "o")
        self.names.setdefault(name, struct.Struct(">" + formats).unpack_from)
        return name

    def function(self, name: str, title: str) -> Callable[..., Any]:
        """Compile everything written so far and return one of its functions."""
        text = "\n".join(self._lines)
        # Safe: the text consists of Kafka's own field names, which come with kio. Nothing in it comes from a client.
        exec(compile(text, f"<{title}>", "exec"), self.names)  # noqa: S102
        made: Callable[..., Any] = self.names[name]
        made.__source__ = text  # type: ignore[attr-defined]
        return made
