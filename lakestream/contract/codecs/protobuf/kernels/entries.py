"""Adds entries to levels, one for each element of a repeated field, and notes which field of a oneof an entry has."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

from lakestream.contract.codecs.protobuf.kernels.tables import COUNT, LEVEL, NO_ROOM, OK, ONEOF, TOO_WIDE
from lakestream.world.compiled.compiling import small


@small
def entry_of(field, tables, levels, cells, entry, row, budget, write):
    """(fault, entry, budget left) for a value of a field: a new entry if the field is repeated, otherwise its
    message's.

    `budget`: the number of cells that the row may still take.
    """
    level = tables.fields[field, LEVEL]
    if level < 0:
        return OK, entry, budget
    budget -= tables.level_widths[level]
    new = levels.counts[level]
    levels.counts[level] = new + 1
    if write:
        if new >= levels.sizes[level]:
            return NO_ROOM, new, budget
        cells.numbers[cells.bases[tables.fields[field, COUNT]] + entry] += 1
        levels.owners[levels.bases[level] + new] = row
    return (TOO_WIDE if budget < 0 else OK), new, budget


@small
def choose(field, fields, cells, entry):
    """Note which field of a oneof an entry has. False if it has another one already."""
    at = cells.bases[fields[field, ONEOF]] + entry
    if cells.numbers[at] != 0 and cells.numbers[at] != field + 1:
        return False
    cells.numbers[at] = field + 1
    return True
