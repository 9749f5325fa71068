"""Writes a value from its node, by its instruction: (fault, position).

Short values are written before the room is checked.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"
# ruff: noqa: SIM109  # `in` a tuple is a loop to Numba

import numpy as np

from lakestream.contract.codecs.avro.kernels import faults
from lakestream.contract.codecs.avro.kernels.decimals import DECIMAL_BYTES, decimal_bytes, put_decimal
from lakestream.contract.codecs.avro.kernels.memory import get, has_bit, load, put, put_word
from lakestream.contract.codecs.avro.kernels.nodes import DATA, DATA_BIT, extent, place
from lakestream.contract.codecs.avro.kernels.numbers import put_number
from lakestream.contract.codecs.avro.kernels.ops import (
    BOOLEAN,
    BYTES,
    DECIMAL,
    DOUBLE,
    ENUM,
    FIXED,
    FLOAT,
    FLOAT_AS_DOUBLE,
    LONG,
    MICROS_IN_MILLI,
    NUMBER4,
    NUMBER8,
    STRING,
    TEXT,
    A,
    B,
    C,
)
from lakestream.contract.codecs.avro.kernels.symbols import symbol_of
from lakestream.contract.codecs.avro.kernels.texts import copy_text
from lakestream.world.compiled.compiling import apart, small
from lakestream.world.compiled.copying import copy_from


@small
def _write_bytes(out, at, limit, size, nodes, node, slot):
    """Write bytes or text. `size`: the schema's, or -1 if it is written in the data."""
    first, length = extent(nodes, node, slot)
    if size < 0:
        at = put_number(out, at, length)
    elif length != size:
        return faults.MISSING, at
    if length > limit - at:
        return faults.NO_ROOM, at
    copy_text(out, at, get(nodes, node + DATA) + first, length)
    return faults.OK, at + length


@small
def _write_symbol(out, at, ops, base, nodes, node, slot, symbols, symbol_starts, ranks):
    first, length = extent(nodes, node, slot)
    address = get(nodes, node + DATA) + first
    symbol = symbol_of(address, length, symbols, symbol_starts, ranks, get(ops, base + A), get(ops, base + B))
    if symbol < 0:
        return faults.NO_SYMBOL, at
    return faults.OK, put_number(out, at, symbol)


@small
def _write_fixed(out, at, limit, size, nodes, node, slot):
    if size > limit - at:
        return faults.NO_ROOM, at
    copy_from(out, at, place(nodes, node, slot, size), size)
    return faults.OK, at + size


@apart
def _write_decimal(out, at, limit, size, nodes, node, slot):
    """`size`: the schema's, or -1 for as few bytes as hold it."""
    address = place(nodes, node, slot, DECIMAL_BYTES)
    low = load(address, np.uint64(0))
    high = load(address + 8, np.uint64(0))
    if size < 0:
        size = np.int64(decimal_bytes(high, low))
        at = put_number(out, at, size)
    if size > limit - at:
        return faults.NO_ROOM, at
    put_decimal(out, at, high, low, size)
    return faults.OK, at + size


@small
def write_value(out, at, limit, op, ops, base, nodes, node, slot, symbols, symbol_starts, ranks):
    """Write a value. A value of an empty type has no bytes."""
    if op == LONG:
        return faults.OK, put_number(out, at, load(place(nodes, node, slot, 8), np.int64(0)))
    if op == STRING or op == BYTES:
        return _write_bytes(out, at, limit, get(ops, base + A), nodes, node, slot)
    if op == NUMBER4:
        return faults.OK, put_number(out, at, np.int64(load(place(nodes, node, slot, 4), np.int32(0))))
    if op == NUMBER8:
        value = load(place(nodes, node, slot, 8), np.int64(0))
        return faults.OK, put_number(out, at, value if get(ops, base + C) == 1 else value // MICROS_IN_MILLI)
    if op == DOUBLE:
        put_word(out, at, load(place(nodes, node, slot, 8), np.uint64(0)))
        return faults.OK, at + 8
    if op == FLOAT:
        put_word(out, at, load(place(nodes, node, slot, 4), np.uint32(0)))
        return faults.OK, at + 4
    if op == FLOAT_AS_DOUBLE:
        put_word(out, at, np.float32(load(place(nodes, node, slot, 8), np.float64(0))))
        return faults.OK, at + 4
    if op == BOOLEAN:
        bit = has_bit(get(nodes, node + DATA), get(nodes, node + DATA_BIT) + slot)
        put(out, at, np.uint8(1) if bit else np.uint8(0))
        return faults.OK, at + 1
    if op == ENUM:
        return _write_symbol(out, at, ops, base, nodes, node, slot, symbols, symbol_starts, ranks)
    if op == FIXED:
        return _write_fixed(out, at, limit, get(ops, base + A), nodes, node, slot)
    if op == DECIMAL:
        return _write_decimal(out, at, limit, get(ops, base + A), nodes, node, slot)
    if op == TEXT:
        return faults.MISSING, at
    return faults.OK, at
