"""Removes a failed row from all nodes, as if it had never been read."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

from lakestream.contract.codecs.avro.kernels.memory import clear_bits, get, put
from lakestream.contract.codecs.avro.kernels.nodes import (
    DATA,
    FILLED,
    HAS_BITS,
    ITEM_LEVEL,
    NODE_CELLS,
    OFFSETS,
    ON_LEVEL,
    POSITION,
    VALID,
    offset_at,
)
from lakestream.world.compiled.compiling import apart


@apart
def take_back(nodes, levels, starts, row):
    """Remove everything that row `row` has written. `starts` has, for each level, the first slot of the row.

    A list's node comes before those of its items, so their start is known when they are reached.
    """
    put(starts, 0, row)
    for number in range(nodes.size // NODE_CELLS):
        node = number * NODE_CELLS
        level = get(nodes, node + ON_LEVEL)
        start = get(starts, level)
        last = get(levels, level)
        if get(nodes, node + VALID) != 0:
            clear_bits(get(nodes, node + VALID), start, last)
        if get(nodes, node + HAS_BITS) != 0:
            clear_bits(get(nodes, node + DATA), start, last)
        offsets = get(nodes, node + OFFSETS)
        if offsets != 0 and get(nodes, node + FILLED) >= start:
            put(nodes, node + POSITION, offset_at(offsets, start))
            put(nodes, node + FILLED, start)
        if get(nodes, node + ITEM_LEVEL) >= 0:
            put(starts, get(nodes, node + ITEM_LEVEL), get(nodes, node + POSITION))
    for level in range(1, levels.size):
        put(levels, level, get(starts, level))
