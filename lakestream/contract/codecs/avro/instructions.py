"""The table of instructions as the compiler writes it, and the table of enum symbols."""

import numpy as np
from numpy.typing import NDArray

from lakestream.contract.codecs.avro.kernels import ops
from lakestream.contract.registry.avro.types import Enum


class Instructions:
    """`cells`: the cells of each instruction (kernels/ops.py). `paths`: the field to name when an instruction fails."""

    def __init__(self) -> None:
        self.cells: list[list[int]] = []
        self.paths: list[str] = []

    def emit(self, op: int, path: str, *, a: int = 0, b: int = 0, c: int = 0) -> int:
        """Append an instruction and return its number."""
        at = len(self.cells)
        self.cells.append([op, 0, 0, -1, -1, at + 1, a, _signed(b), _signed(c)])
        self.paths.append(path)
        return at

    def ends(self, at: int) -> None:
        """Mark the end of instruction `at`'s type here."""
        self.cells[at][ops.AFTER] = len(self.cells)

    def table(self) -> NDArray[np.int64]:
        return np.array(self.cells, dtype=np.int64).reshape(-1)


class Symbols:
    """The symbols of all enums, one behind the other. Each enum has one more start than it has symbols."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._starts: list[int] = []
        self._ranks: list[int] = []
        self._first: dict[int, int] = {}

    def place(self, enum: Enum) -> int:
        """Append an enum's symbols and return where their starts begin."""
        if id(enum) not in self._first:
            self._first[id(enum)] = len(self._starts)
            symbols = [symbol.encode() for symbol in enum.symbols]
            for symbol in symbols:
                self._starts.append(len(self._text))
                self._text += symbol
            self._starts.append(len(self._text))
            self._ranks += [*sorted(range(len(symbols)), key=symbols.__getitem__), 0]
        return self._first[id(enum)]

    def tables(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        """The text, starts in it, and for each enum the numbers of its symbols in the order of their bytes."""
        text = np.frombuffer(bytes(self._text), dtype=np.uint8)
        return text, np.array(self._starts, dtype=np.int64), np.array(self._ranks, dtype=np.int64)


def _signed(number: int) -> int:
    """An unsigned number of 64 bits as the signed one that the table's cells hold."""
    return number - 2**64 if number >= 2**63 else number
