"""Python source that is written by a program: lines, indentation, fresh names, and one place that compiles it.

The generated functions are flat (no call per field), which is where their speed comes from. `function.__source__` keeps
the text, for those who want to read what was made.
"""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class ModuleText:
    """A module being written. `names` is what its code can see."""

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
        """A variable's name that nothing else uses: blocks are nested freely, so none may be shared."""
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
        """Compile everything written so far and hand out one of its functions."""
        text = "\n".join(self._lines)
        # Safe: the text is made of Kafka's own field names, which come with kio, and of nothing a client sends.
        exec(compile(text, f"<{title}>", "exec"), self.names)  # noqa: S102
        made: Callable[..., Any] = self.names[name]
        made.__source__ = text  # type: ignore[attr-defined]
        return made
