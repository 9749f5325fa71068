"""Avro's whole numbers: zig-zag varints of one to ten bytes.

Those of one and two bytes are the most common and are tried first; longer ones are read eight bytes at once.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels.memory import get, put, trailing_zeros, word_at
from lakestream.world.compiled.compiling import apart, small
from lakestream.world.compiled.utf8 import HIGH_BITS

NUMBER_BYTES_MAX = 10


@small
def _packed_varint(data, at, end):
    """A varint of three to eight bytes, read at once: three steps move the groups of seven bits together."""
    word = word_at(data, at)
    stops = ~word & HIGH_BITS
    if stops == np.uint64(0):
        return _long_varint(data, at, end)
    stop = trailing_zeros(stops)
    size = np.int64(stop >> np.uint64(3)) + 1
    if size > end - at:
        return np.uint64(0), end + 1
    word &= np.uint64(0x7F7F7F7F7F7F7F7F) & (np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(63) - stop))
    word = (word & np.uint64(0x007F007F007F007F)) | ((word & np.uint64(0x7F007F007F007F00)) >> np.uint64(1))
    word = (word & np.uint64(0x00003FFF00003FFF)) | ((word & np.uint64(0x3FFF00003FFF0000)) >> np.uint64(2))
    word = (word & np.uint64(0x000000000FFFFFFF)) | ((word & np.uint64(0x0FFFFFFF00000000)) >> np.uint64(4))
    return word, at + size


@apart
def _long_varint(data, at, end):
    value = np.uint64(0)
    shift = np.uint64(0)
    stop = min(end, at + NUMBER_BYTES_MAX)
    while at < stop:
        byte = np.uint64(get(data, at))
        at += 1
        if shift == np.uint64(63) and byte > np.uint64(1):
            break  # more than 64 bits
        value |= (byte & np.uint64(0x7F)) << shift
        if byte < np.uint64(128):
            return value, at
        shift += np.uint64(7)
    return np.uint64(0), end + 1


@small
def number_at(data, at, end):
    """(number, position behind it); a position past `end` when there is none."""
    if at < end and get(data, at) < 128:
        raw = np.uint64(get(data, at))
        at += 1
    elif at + 1 < end and get(data, at + 1) < 128:
        raw = np.uint64(get(data, at) & np.uint8(0x7F)) | (np.uint64(get(data, at + 1)) << np.uint64(7))
        at += 2
    elif data.size - at >= 8:
        raw, at = _packed_varint(data, at, end)
    else:
        raw, at = _long_varint(data, at, end)
    return np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1)), at


@small
def put_number(out, at, number):
    """Write a number in as few bytes as hold it. Returns the position behind them."""
    raw = np.uint64((number << np.int64(1)) ^ (number >> np.int64(63)))
    while raw >= np.uint64(128):
        put(out, at, np.uint8((raw & np.uint64(0x7F)) | np.uint64(0x80)))
        raw >>= np.uint64(7)
        at += 1
    put(out, at, np.uint8(raw))
    return at + 1
