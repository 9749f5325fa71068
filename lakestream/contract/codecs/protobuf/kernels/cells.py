"""What the kernels work on: a program's tables, and the cells, levels and owners of one batch. See tables.py."""

from typing import Any, NamedTuple


class CellTables(NamedTuple):
    messages: Any
    fields: Any
    level_widths: Any
    """How many cells an entry of the level has."""


class Cells(NamedTuple):
    bases: Any
    """Where a node's cells begin."""
    numbers: Any
    lengths: Any
    valid: Any


class Levels(NamedTuple):
    counts: Any
    """Entries so far."""
    before: Any
    """The same before the row that is being read."""
    sizes: Any
    """Entries for which there is room."""
    bases: Any
    """Where a level's owners begin."""
    owners: Any
    """The row to which an entry belongs."""
