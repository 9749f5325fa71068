"""Nodes: Arrow's buffers of one column or part, and how far they are filled.

Nothing is written for null: validity bits and numbers are zero from the start, and offsets are filled in when the next
value comes (`fill`). So undoing a failed row needs only the offsets (undoing.py).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels.memory import copy_in, get, has_bit, load, put, store
from lakestream.world.compiled.compiling import small

VALID, DATA, OFFSETS, ON_LEVEL, ITEM_LEVEL, POSITION, FILLED, ROOM, LEFT, HAS_BITS, VALID_BIT, DATA_BIT = range(12)
NODE_CELLS = 12
"""VALID 0: never null. ITEM_LEVEL -1: no list. POSITION: bytes or items so far, ROOM: how many fit. FILLED: offsets[0]
to offsets[FILLED] are right. LEFT: items of the current block. HAS_BITS: DATA is a bitmap. *_BIT: first bit of slices.
"""


@small
def is_valid(nodes, node, slot):
    valid = get(nodes, node + VALID)
    return valid == 0 or has_bit(valid, get(nodes, node + VALID_BIT) + slot)


@small
def place(nodes, node, slot, width):
    """The address of the value of `slot`, in a node whose values have `width` bytes each."""
    return get(nodes, node + DATA) + width * slot


@small
def offset_at(offsets, slot):
    return np.int64(load(offsets + 4 * slot, np.int32(0)))


@small
def extent(nodes, node, slot):
    """(first, count) of the bytes or items of `slot`'s value."""
    offsets = get(nodes, node + OFFSETS)
    first = offset_at(offsets, slot)
    return first, offset_at(offsets, slot + 1) - first


@small
def fill(nodes, node, slot):
    """Fill in the offsets up to that of `slot`: the slots between have no values."""
    filled = get(nodes, node + FILLED)
    if filled < slot:
        position = np.int32(get(nodes, node + POSITION))
        offsets = get(nodes, node + OFFSETS)
        while filled < slot:
            filled += 1
            store(offsets + 4 * filled, position)
        put(nodes, node + FILLED, filled)


@small
def ends(nodes, node, slot, position):
    """Note that the value of `slot` ends at `position`."""
    store(get(nodes, node + OFFSETS) + 4 * (slot + 1), np.int32(position))
    put(nodes, node + POSITION, position)
    put(nodes, node + FILLED, slot + 1)


@small
def append(nodes, node, slot, data, at, length):
    """Append bytes as the value of `slot`. Returns whether there was room."""
    fill(nodes, node, slot)
    position = get(nodes, node + POSITION)
    if length > get(nodes, node + ROOM) - position:
        return False
    copy_in(get(nodes, node + DATA) + position, data, at, length)
    ends(nodes, node, slot, position + length)
    return True
