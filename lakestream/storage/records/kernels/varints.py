"""Reads zig-zag varints within bounds, measures them and writes them."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.world.compiled.compiling import small


@small
def _long_varint(buffer, at, end, bytes_max):
    value = np.uint64(0)
    shift = np.uint64(0)
    stop = min(end, at + bytes_max)
    while at < stop:
        byte = np.uint64(buffer[at])
        at += 1
        if shift == np.uint64(63) and byte > np.uint64(1):
            break  # more than 64 bits
        value |= (byte & np.uint64(0x7F)) << shift
        if byte < np.uint64(128):
            return value, at
        shift += np.uint64(7)
    return np.uint64(0), end + 1


@small
def _unsigned(buffer, at, end, bytes_max):
    """(value, position behind it); a position past `end` when there is no proper varint."""
    if at < end:
        byte = buffer[at]
        if byte < 128:
            return np.uint64(byte), at + 1
    if at + 1 < end:
        second = buffer[at + 1]
        if second < 128:
            return np.uint64(buffer[at] & np.uint8(0x7F)) | (np.uint64(second) << np.uint64(7)), at + 2
    return _long_varint(buffer, at, end, bytes_max)


@small
def int64(buffer, at, end):
    raw, after = _unsigned(buffer, at, end, 10)
    return np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1)), after


@small
def int32(buffer, at, end):
    """Like Kafka's readers, which throw on more than five bytes: a varint that they cannot read is refused."""
    raw, after = _unsigned(buffer, at, end, 5)
    if raw >> np.uint64(32):
        return np.int64(0), end + 1
    return np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1)), after


@small
def _zigzag(number):
    return np.uint64((number << np.int64(1)) ^ (number >> np.int64(63)))


@small
def varint_bytes(number):
    raw = _zigzag(number)
    size = 1
    while raw >= np.uint64(128):
        raw >>= np.uint64(7)
        size += 1
    return size


@small
def put(out, at, number):
    raw = _zigzag(number)
    while raw >= np.uint64(128):
        out[at] = np.uint8((raw & np.uint64(0x7F)) | np.uint64(0x80))
        raw >>= np.uint64(7)
        at += 1
    out[at] = np.uint8(raw)
    return at + 1
