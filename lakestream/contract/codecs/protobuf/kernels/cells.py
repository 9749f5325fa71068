"""The data of the kernels: a program's tables, and the cells, levels and owners of one batch. See tables.py."""

from typing import Any, NamedTuple


class CellTables(NamedTuple):
    messages: Any
    fields: Any
    level_widths: Any
    """The number of cells that an entry of the level has."""


class Cells(NamedTuple):
    bases: Any
    """Where each node's cells begin."""
    numbers: Any
    lengths: Any
    valid: Any


class Levels(NamedTuple):
    counts: Any
    """The number of entries so far."""
    before: Any
    """The number of entries before the row that is being read."""
    sizes: Any
    """The number of entries for which there is room."""
    bases: Any
    """Where each level's owners begin."""
    owners: Any
    """The row of each entry."""
