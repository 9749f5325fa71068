"""Finds the field of a tag, and skips values of unknown fields."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.contract.codecs.protobuf.kernels.numbers import varint_at
from lakestream.contract.codecs.protobuf.kernels.tables import (
    FIXED32,
    FIXED64,
    NONE,
    NUMBER,
    TAG_BYTES_MAX,
    VARINT,
    VARINT_BYTES_MAX,
)
from lakestream.world.compiled.compiling import small


@small
def field_of(fields, first, last, cursor, number):
    """The field with this number. Fields mostly come in order, so the next one is tried before a search."""
    if cursor < last and fields[cursor, NUMBER] == number:
        return cursor
    low = first
    high = last
    while low < high:
        middle = (low + high) >> 1
        if fields[middle, NUMBER] < number:
            low = middle + 1
        else:
            high = middle
    if low < last and fields[low, NUMBER] == number:
        return low
    return NONE


@small
def skipped(buffer, at, end, wire):
    """The position behind a value of an unknown field; past `end` if the value does not end there."""
    if wire == VARINT:
        _, at = varint_at(buffer, at, end, VARINT_BYTES_MAX)
        return at
    if wire == FIXED64:
        return at + 8
    if wire == FIXED32:
        return at + 4
    length, at = varint_at(buffer, at, end, TAG_BYTES_MAX)
    if at > end or length > np.uint64(end - at):
        return end + 1
    return at + np.int64(length)
