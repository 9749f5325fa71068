"""Copies text into nodes and out of them.

Most text is short and ASCII: up to 16 bytes are two words that may overlap.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels import faults
from lakestream.contract.codecs.avro.kernels.memory import get, load, put, put_word, store, word_at
from lakestream.contract.codecs.avro.kernels.nodes import DATA, POSITION, ROOM, append, ends, fill
from lakestream.world.compiled.addresses import address_of
from lakestream.world.compiled.compiling import apart, small
from lakestream.world.compiled.copying import copy_from
from lakestream.world.compiled.utf8 import HIGH_BITS, is_utf8

WORD_BYTES = 8
"""Extra bytes behind the room of a node: short text is copied in whole words."""


@apart
def _is_utf8(data, at, length):
    address = address_of(data) + at
    return is_utf8(address, address + length)


@small
def append_text(nodes, node, slot, data, at, length):
    """Append a text and return the fault. A short text is checked and copied as words, without a call."""
    if length > 16 or (length < 8 and data.size - at < 8):
        if not _is_utf8(data, at, length):
            return faults.NOT_UTF8
        return faults.OK if append(nodes, node, slot, data, at, length) else faults.NO_ROOM
    first = word_at(data, at)
    if length >= 8:
        last = word_at(data, at + length - 8)
        high = first | last
    else:
        last = first
        high = np.uint64(0) if length == 0 else first << np.uint64(64 - 8 * length)
    if high & HIGH_BITS != np.uint64(0) and not _is_utf8(data, at, length):
        return faults.NOT_UTF8
    fill(nodes, node, slot)
    position = get(nodes, node + POSITION)
    if length > get(nodes, node + ROOM) - position:
        return faults.NO_ROOM
    address = get(nodes, node + DATA) + position
    store(address, first)  # the next text overwrites the bytes behind a shorter one; WORD_BYTES are spare at the end
    if length > 8:
        store(address + length - 8, last)
    ends(nodes, node, slot, position + length)
    return faults.OK


@small
def copy_text(out, at, address, length):
    """Copy a text. Reads no byte behind the source."""
    if length > 16:
        copy_from(out, at, address, length)
    elif length >= 8:
        put_word(out, at, load(address, np.uint64(0)))
        put_word(out, at + length - 8, load(address + length - 8, np.uint64(0)))
    elif length >= 4:
        put_word(out, at, load(address, np.uint32(0)))
        put_word(out, at + length - 4, load(address + length - 4, np.uint32(0)))
    else:
        for k in range(length):
            put(out, at + k, load(address + k, np.uint8(0)))
