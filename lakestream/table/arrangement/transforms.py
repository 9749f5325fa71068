"""Iceberg's transforms of whole columns: identity, bucket, truncate, year, month, day, hour.

A null stays null. Times count from 1970 in UTC; a time before it belongs to the period in which it lies.

    https://iceberg.apache.org/spec/#partition-transforms
"""

import re
from decimal import Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakestream.table.arrangement.murmur3 import Hashes, hashed_bytes, hashed_longs

_WITH_WIDTH = re.compile(r"(bucket|truncate)\[(\d+)\]")
_IDENTITY, _VOID = "identity", "void"
_DAY_MICROS = 86_400_000_000
_MICROS = {"hour": 3_600_000_000, "day": _DAY_MICROS}
_NUMPY_PERIODS = {"year": "Y", "month": "M"}
_DECIMAL_BYTES = 16
_EXACTLY = Context(prec=60)
_POSITIVE = np.uint32(0x7FFFFFFF)


class NoTransform(ValueError):
    """The transform is not known here, or has no result for such a column."""


def transformed(transform: str, values: pa.Array) -> pa.Array:
    """Raises NoTransform."""
    if transform == _IDENTITY:
        return values
    if transform == _VOID:
        return pa.nulls(len(values), values.type)
    if (found := _WITH_WIDTH.fullmatch(transform)) is not None:
        width = int(found[2])
        return _bucket(values, width) if found[1] == "bucket" else _truncated(values, width)
    if transform in _MICROS or transform in _NUMPY_PERIODS:
        return _period(transform, values)
    raise NoTransform(f"the transform '{transform}' is not known here")


def _period(transform: str, values: pa.Array) -> pa.Array:
    kind = values.type
    if pa.types.is_date32(kind):
        micros = _numbers(values) * _DAY_MICROS
    elif pa.types.is_timestamp(kind):
        micros = _numbers(values) // (1_000 if kind.unit == "ns" else 1)
    else:
        raise NoTransform(f"a column of {kind} has no {transform}")
    if transform in _MICROS:
        counted = micros // _MICROS[transform]
    else:
        days = (micros // _DAY_MICROS).astype("datetime64[D]")
        counted = days.astype(f"datetime64[{_NUMPY_PERIODS[transform]}]").astype(np.int64)
    return _where(values, pa.array(counted.astype(np.int32)))


def _bucket(values: pa.Array, count: int) -> pa.Array:
    hashes = _hashed(values)
    return _where(values, pa.array(((hashes & _POSITIVE) % np.uint32(count)).astype(np.int32)))


def _hashed(values: pa.Array) -> Hashes:
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _hashed_bytes(values)
    if pa.types.is_decimal128(kind):
        return _hashed_digits(values)
    if pa.types.is_fixed_size_binary(kind):
        return _hashed_bytes(values.cast(pa.binary()))
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return hashed_longs(_numbers(values) // 1_000)
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        return hashed_longs(_numbers(values))
    raise NoTransform(f"a column of {kind} has no buckets")


def _hashed_bytes(values: pa.Array) -> Hashes:
    _, offsets, data = values.buffers()
    ends: NDArray[np.int64] = np.frombuffer(offsets, np.int32, len(values) + 1, 4 * values.offset).astype(np.int64)
    held = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return hashed_bytes(held, ends[:-1], np.diff(ends))


def _hashed_digits(values: pa.Array) -> Hashes:
    """Of decimals: their digits as a whole number, in as few bytes as it needs."""
    digits = _digits(values)[:, ::-1]
    signs = np.where(digits[:, 0] & 0x80, 0xFF, 0).astype(np.uint8)
    differs = digits != signs[:, None]
    first = np.where(differs.any(axis=1), differs.argmax(axis=1), _DECIMAL_BYTES)
    at = np.minimum(first, _DECIMAL_BYTES - 1)
    needs_sign = (digits[np.arange(len(digits)), at] & 0x80) != (signs & 0x80)
    begins = np.where(needs_sign, at - 1, at).astype(np.int64)
    starts = begins + _DECIMAL_BYTES * np.arange(len(digits), dtype=np.int64)
    return hashed_bytes(np.ascontiguousarray(digits).reshape(-1), starts, _DECIMAL_BYTES - begins)


def _digits(values: pa.Array) -> NDArray[np.uint8]:
    """Sixteen bytes for each decimal, little-endian. Those of a null mean nothing."""
    held = np.frombuffer(values.buffers()[1], np.uint8)
    start = _DECIMAL_BYTES * values.offset
    return held[start : start + _DECIMAL_BYTES * len(values)].reshape(-1, _DECIMAL_BYTES)


def _truncated(values: pa.Array, width: int) -> pa.Array:
    kind = values.type
    if pa.types.is_string(kind):
        return pc.utf8_slice_codeunits(values, 0, width)
    if pa.types.is_binary(kind):
        return pc.binary_slice(values, 0, width)
    if pa.types.is_decimal128(kind):
        distinct = values.dictionary_encode()  # a number of more digits than a machine has is cut one by one
        cut = [_cut(value, width) for value in distinct.dictionary.to_pylist()]
        return pa.array(cut, kind).take(distinct.indices)
    if pa.types.is_integer(kind):
        numbers = _numbers(values)
        return _where(values, pa.array(numbers - numbers % width).cast(kind, safe=False))
    raise NoTransform(f"a column of {kind} cannot be truncated")


def _cut(value: Decimal, width: int) -> Decimal:
    whole, scale = unscaled(value), -int(value.as_tuple().exponent)
    return Decimal(whole - whole % width).scaleb(-scale, _EXACTLY)


def unscaled(value: Decimal) -> int:
    """A decimal's digits as a whole number, without its point."""
    sign, digits, _ = value.as_tuple()
    whole = int("".join(map(str, digits)))
    return -whole if sign else whole


def _numbers(values: pa.Array) -> NDArray[np.int64]:
    """Numbers, dates and times as they are stored; 0 for null."""
    whole = values.cast(pa.int32()) if pa.types.is_date32(values.type) else values
    filled: NDArray[np.int64] = pc.fill_null(whole.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    return filled


def _where(values: pa.Array, results: pa.Array) -> pa.Array:
    """The results, and null where there is no value."""
    return results if not values.null_count else pc.if_else(values.is_valid(), results, None)
