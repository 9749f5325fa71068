"""Decimals: big-endian whole numbers in two's complement in Avro, two words in Arrow."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels.memory import get, put
from lakestream.world.compiled.compiling import small

DECIMAL_BYTES = 16


@small
def decimal_at(data, at, length):
    """(high, low, whether it fits 128 bits)."""
    if length == 0:
        return np.uint64(0), np.uint64(0), True
    sign = np.uint64(0xFFFFFFFFFFFFFFFF) if get(data, at) >= 128 else np.uint64(0)
    fits = True
    while length > DECIMAL_BYTES:
        fits = fits and np.uint64(get(data, at)) == sign & np.uint64(0xFF)
        at += 1
        length -= 1
    fits = fits and (get(data, at) >= 128) == (sign != np.uint64(0))
    high = sign
    low = sign
    for k in range(length):
        high = (high << np.uint64(8)) | (low >> np.uint64(56))
        low = (low << np.uint64(8)) | np.uint64(get(data, at + k))
    return high, low, fits


@small
def is_below(high, low, bound_high, bound_low):
    """Whether the magnitude is less than the bound."""
    if high >> np.uint64(63):
        low = ~low + np.uint64(1)
        high = ~high + (np.uint64(1) if low == np.uint64(0) else np.uint64(0))
    return high < bound_high or (high == bound_high and low < bound_low)


@small
def _decimal_byte(high, low, k):
    """The k-th byte from the lowest; bytes above the highest repeat the sign."""
    if k >= DECIMAL_BYTES:
        return np.uint8(0xFF) if high >> np.uint64(63) else np.uint8(0)
    word = low if k < 8 else high
    return np.uint8((word >> np.uint64(8 * (k & 7))) & np.uint64(0xFF))


@small
def decimal_bytes(high, low):
    """The least number of bytes that hold the decimal with its sign."""
    size = DECIMAL_BYTES
    sign = _decimal_byte(high, low, DECIMAL_BYTES)
    while size > 1:
        below_is_negative = _decimal_byte(high, low, size - 2) >= 128
        if _decimal_byte(high, low, size - 1) != sign or below_is_negative != (sign != np.uint8(0)):
            break
        size -= 1
    return size


@small
def put_decimal(out, at, high, low, length):
    for k in range(length):
        put(out, at + k, _decimal_byte(high, low, length - 1 - k))
