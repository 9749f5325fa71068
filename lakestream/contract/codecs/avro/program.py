"""The program that the kernels follow: instructions in a table, and the nodes that they fill."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakestream.contract.registry.avro.types import AvroType

ROWS = 0
"""The level that counts rows; lists have others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The part of a column that an instruction fills. `bits`, `offsets` and `width` say which of Arrow's buffers it
    has."""

    level: int
    always: bool
    """Never null except in rows that cannot be decoded."""
    bits: bool = False
    offsets: bool = False
    width: int = 0
    """The size of a fixed-size value in bytes."""
    item_level: int = -1
    text: AvroType | None = None
    """A type that contains itself: the node gets its bytes, and the decoder turns them into JSON afterwards."""

    @property
    def is_bytes(self) -> bool:
        return self.offsets and self.item_level < 0


@dataclass(slots=True)
class AvroProgram:
    """`paths`: for each instruction, the field to name when it fails. `columns`: node of each column, by field id."""

    ops: NDArray[np.int64]
    nodes: list[Node]
    paths: list[str]
    columns: dict[int, int]
    levels: int
    lossy: bool
    symbols: NDArray[np.uint8]
    symbol_starts: NDArray[np.int64]
    ranks: NDArray[np.int64]
