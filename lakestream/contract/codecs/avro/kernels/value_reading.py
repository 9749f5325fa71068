"""Reads a value into its node, by its instruction: (fault, number about it, position)."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"
# ruff: noqa: SIM109  # `in` a tuple is a loop to Numba

import numpy as np

from lakestream.contract.codecs.avro.kernels import faults
from lakestream.contract.codecs.avro.kernels.decimals import DECIMAL_BYTES, decimal_at, is_below
from lakestream.contract.codecs.avro.kernels.memory import copy_in, get, half_word_at, load, set_bit, store, word_at
from lakestream.contract.codecs.avro.kernels.nodes import DATA, append, place
from lakestream.contract.codecs.avro.kernels.numbers import number_at
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
    NUMBER4,
    NUMBER8,
    PRESENT,
    STRING,
    TEXT,
    A,
    B,
    C,
)
from lakestream.contract.codecs.avro.kernels.skipping import skip_text
from lakestream.contract.codecs.avro.kernels.symbols import symbol_extent
from lakestream.contract.codecs.avro.kernels.texts import append_text
from lakestream.world.compiled.compiling import small


@small
def _length(data, at, end, size):
    """(fault, length, position) of bytes that are all there. `size`: the schema's, or -1 if it is written in the
    data."""
    if size < 0:
        size, at = number_at(data, at, end)
        if at > end:
            return faults.CUT_NUMBER, np.int64(0), at
    if size < 0 or size > end - at:
        return faults.LENGTH, size, at
    return faults.OK, size, at


@small
def _read_long(data, at, end, nodes, node, slot):
    value, at = number_at(data, at, end)
    if at > end:
        return faults.CUT_NUMBER, np.int64(0), at
    store(place(nodes, node, slot, 8), value)
    return faults.OK, value, at


@small
def _read_number(data, at, end, op, ops, base, nodes, node, slot):
    """Read a number that has bounds, and whose unit may differ from its column's."""
    value, at = number_at(data, at, end)
    if at > end:
        return faults.CUT_NUMBER, np.int64(0), at
    if value < get(ops, base + A) or value > get(ops, base + B):
        return faults.RANGE, value, at
    if op == NUMBER4:
        store(place(nodes, node, slot, 4), np.int32(value))
    else:
        store(place(nodes, node, slot, 8), value * get(ops, base + C))
    return faults.OK, value, at


@small
def _read_double(data, at, end, nodes, node, slot):
    if end - at < 8:
        return faults.CUT_BYTES, np.int64(8), at
    store(place(nodes, node, slot, 8), word_at(data, at))
    return faults.OK, np.int64(0), at + 8


@small
def _read_float(data, at, end, op, nodes, node, slot):
    if end - at < 4:
        return faults.CUT_BYTES, np.int64(4), at
    raw = half_word_at(data, at)
    if op == FLOAT:
        store(place(nodes, node, slot, 4), raw)
    else:
        address = place(nodes, node, slot, 8)
        store(address, raw)
        store(address, np.float64(load(address, np.float32(0))))
    return faults.OK, np.int64(0), at + 4


@small
def _read_boolean(data, at, end, nodes, node, slot):
    if at >= end:
        return faults.CUT_BYTES, np.int64(1), at
    if get(data, at) > 1:
        return faults.NO_BOOLEAN, np.int64(get(data, at)), at
    # Without a branch, since the processor could not predict it.
    byte = get(nodes, node + DATA) + (slot >> 3)
    store(byte, np.uint8(load(byte, np.uint8(0)) | (np.int64(get(data, at)) << (slot & 7))))
    return faults.OK, np.int64(0), at + 1


@small
def _read_string(data, at, end, nodes, node, slot):
    fault, length, at = _length(data, at, end, np.int64(-1))
    if fault != faults.OK:
        return fault, length, at
    fault = append_text(nodes, node, slot, data, at, length)
    if fault != faults.OK:
        return fault, length, at
    return faults.OK, length, at + length


@small
def _read_bytes(data, at, end, size, nodes, node, slot):
    fault, length, at = _length(data, at, end, size)
    if fault != faults.OK:
        return fault, length, at
    if not append(nodes, node, slot, data, at, length):
        return faults.NO_ROOM, length, at
    return faults.OK, length, at + length


@small
def _read_fixed(data, at, end, size, nodes, node, slot):
    if size > end - at:
        return faults.CUT_BYTES, size, at
    copy_in(place(nodes, node, slot, size), data, at, size)
    return faults.OK, size, at + size


@small
def _read_decimal(data, at, end, ops, base, nodes, node, slot):
    fault, length, at = _length(data, at, end, get(ops, base + A))
    if fault != faults.OK:
        return fault, length, at
    high, low, fits = decimal_at(data, at, length)
    if not fits or not is_below(high, low, np.uint64(get(ops, base + B)), np.uint64(get(ops, base + C))):
        return faults.RANGE, length, at
    address = place(nodes, node, slot, DECIMAL_BYTES)
    store(address, low)
    store(address + 8, high)
    return faults.OK, length, at + length


@small
def _read_symbol(data, at, end, ops, base, nodes, node, slot, symbols, symbol_starts):
    symbol, at = number_at(data, at, end)
    if at > end:
        return faults.CUT_NUMBER, np.int64(0), at
    if symbol < 0 or symbol >= get(ops, base + B):
        return faults.NO_SYMBOL, symbol, at
    first, length = symbol_extent(symbol_starts, get(ops, base + A) + symbol)
    if not append(nodes, node, slot, symbols, first, length):
        return faults.NO_ROOM, length, at
    return faults.OK, symbol, at


@small
def _read_text(data, at, end, ops, base, nodes, node, slot, stack):
    """The bytes of a value whose type may contain itself."""
    fault, detail, after = skip_text(data, at, end, ops, get(ops, base + A), stack)
    if fault != faults.OK:
        return fault, detail, after
    if not append(nodes, node, slot, data, at, after - at):
        return faults.NO_ROOM, after - at, at
    return faults.OK, detail, after


@small
def read_value(data, at, end, op, ops, base, nodes, node, slot, stack, symbols, symbol_starts):
    """Read a value. A struct or union has no bytes of its own: marking it as valid is enough."""
    if op == LONG:
        return _read_long(data, at, end, nodes, node, slot)
    if op == STRING:
        return _read_string(data, at, end, nodes, node, slot)
    if op == NUMBER4 or op == NUMBER8:
        return _read_number(data, at, end, op, ops, base, nodes, node, slot)
    if op == DOUBLE:
        return _read_double(data, at, end, nodes, node, slot)
    if op == FLOAT or op == FLOAT_AS_DOUBLE:
        return _read_float(data, at, end, op, nodes, node, slot)
    if op == BOOLEAN:
        return _read_boolean(data, at, end, nodes, node, slot)
    if op == ENUM:
        return _read_symbol(data, at, end, ops, base, nodes, node, slot, symbols, symbol_starts)
    if op == BYTES:
        return _read_bytes(data, at, end, get(ops, base + A), nodes, node, slot)
    if op == FIXED:
        return _read_fixed(data, at, end, get(ops, base + A), nodes, node, slot)
    if op == DECIMAL:
        return _read_decimal(data, at, end, ops, base, nodes, node, slot)
    if op == TEXT:
        return _read_text(data, at, end, ops, base, nodes, node, slot, stack)
    if op == PRESENT:
        set_bit(get(nodes, node + DATA), slot)
    return faults.OK, np.int64(0), at
