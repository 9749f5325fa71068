"""Protobuf's encodings of numbers: varints, and four or eight bytes, the lowest first."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.contract.codecs.protobuf.kernels.tables import (
    BOOL,
    FIXED64,
    FOUR_SIGNED,
    INT32,
    UINT32,
    UINT32_MAX,
    VARINT,
    VARINT_BYTES_MAX,
    ZIGZAG32,
    ZIGZAG64,
)
from lakestream.world.compiled.compiling import small


@small
def varint_at(buffer, at, end, bytes_max):
    """(value, position behind it); a position past `end` when there is no proper varint."""
    if at < end and buffer[at] < 128:
        return np.uint64(buffer[at]), at + 1
    value = np.uint64(0)
    shift = np.uint64(0)
    stop = min(end, at + bytes_max)
    while at < stop:
        byte = np.uint64(buffer[at])
        at += 1
        value |= (byte & np.uint64(0x7F)) << shift
        if byte < np.uint64(128):
            return value, at
        shift += np.uint64(7)
    return np.uint64(0), end + 1


@small
def _little_endian(buffer, at, size):
    value = np.uint64(0)
    for k in range(size):
        value |= np.uint64(buffer[at + k]) << np.uint64(8 * k)
    return value


@small
def number_at(buffer, at, end, wire, op):
    """(value, position behind it) of one number, cut to the size of its type as Protobuf does."""
    if wire == VARINT:
        raw, at = varint_at(buffer, at, end, VARINT_BYTES_MAX)
    elif wire == FIXED64:
        if end - at < 8:
            return np.int64(0), end + 1
        raw = _little_endian(buffer, at, 8)
        at += 8
    else:
        if end - at < 4:
            return np.int64(0), end + 1
        raw = _little_endian(buffer, at, 4)
        at += 4
    if op in (INT32, FOUR_SIGNED):
        return np.int64(np.int32(raw & np.uint64(UINT32_MAX))), at
    if op == UINT32:
        return np.int64(raw & np.uint64(UINT32_MAX)), at
    if op == ZIGZAG32:
        raw &= np.uint64(UINT32_MAX)
    if op in (ZIGZAG32, ZIGZAG64):
        return np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1)), at
    if op == BOOL:
        return np.int64(raw != np.uint64(0)), at
    return np.int64(raw), at


@small
def put_varint(out, at, raw):
    """Write a varint in front of `at`. Returns where it begins."""
    size = 1
    rest = raw >> np.uint64(7)
    while rest:
        rest >>= np.uint64(7)
        size += 1
    at -= size
    place = at
    while raw >= np.uint64(128):
        out[place] = np.uint8((raw & np.uint64(0x7F)) | np.uint64(0x80))
        raw >>= np.uint64(7)
        place += 1
    out[place] = np.uint8(raw)
    return at


@small
def put_number(out, at, value, wire, op):
    if wire == VARINT:
        raw = np.uint64(value)
        if op in (ZIGZAG32, ZIGZAG64):
            raw = np.uint64((value << np.int64(1)) ^ (value >> np.int64(63)))
        return put_varint(out, at, raw)
    size = 8 if wire == FIXED64 else 4
    at -= size
    raw = np.uint64(value)
    for k in range(size):
        out[at + k] = np.uint8((raw >> np.uint64(8 * k)) & np.uint64(0xFF))
    return at
