"""Computes a hash for every record, equal to Spark's `xxhash64` of the row (rows.py), without a loop in Python.

    xxhash64(offset, timestamp, key length, key, value length, value, headers, [header key, value length, value] ...)

The hash so far is the seed of each part; the first seed is 42. A null has length -1 and adds nothing else. So null and
empty differ, and no byte can move from one field to its neighbour unnoticed. XXH64 is described at
https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
"""

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from lakestream.storage.records.arrays import ByteArray

SEED = 42
"""Spark's seed."""
_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_NULL = np.int64(-1)
_NO_STARTS = np.frombuffer(bytes(4), np.int32)
_NO_CONTENT = np.frombuffer(b"", np.uint8)
"""Read-only, as Arrow's buffers are: the kernel is compiled for that kind alone."""

_small = njit(nogil=True, inline="always")
_kernel = njit(cache=True, nogil=True)


def record_hashes(rows: pa.RecordBatch) -> NDArray[np.int64]:
    """One hash for each row of a batch from `records.decode`."""
    headers = rows.column("headers")
    pairs = headers.values
    out = np.empty(rows.num_rows, np.int64)
    _hash_rows(
        rows.column("offset").to_numpy(),
        rows.column("timestamp").to_numpy(),
        *_content(rows.column("key")),
        *_content(rows.column("value")),
        _whole(headers.offsets),
        *_content(pairs.field("key")),
        *_content(pairs.field("value")),
        out,
    )
    return out


def _content(column: pa.Array) -> tuple[NDArray[np.int32], ByteArray, NDArray[np.bool_]]:
    """(offsets, bytes, mask of the values that are not null) of a column of bytes or text."""
    assert column.offset == 0, "a batch as it was decoded, not a slice"
    _, offsets, data = column.buffers()
    starts = _NO_STARTS if offsets is None else np.frombuffer(offsets, np.int32)[: len(column) + 1]
    content = _NO_CONTENT if data is None else np.frombuffer(data, np.uint8)
    return starts, content, column.is_valid().to_numpy(zero_copy_only=False)


def _whole(offsets: pa.Array) -> NDArray[np.int32]:
    found: NDArray[np.int32] = offsets.to_numpy()
    return found


@_small
def _rotated(value: np.uint64, by: int) -> np.uint64:
    return (value << np.uint64(by)) | (value >> np.uint64(64 - by))


@_small
def _mixed(value: np.uint64) -> np.uint64:
    value ^= value >> np.uint64(33)
    value *= _P2
    value ^= value >> np.uint64(29)
    value *= _P3
    return value ^ (value >> np.uint64(32))


@_small
def _round(hash: np.uint64, word: np.uint64) -> np.uint64:
    return _rotated(hash + word * _P2, 31) * _P1


@_small
def _merged(hash: np.uint64, lane: np.uint64) -> np.uint64:
    return (hash ^ _round(np.uint64(0), lane)) * _P1 + _P4


@_small
def _word(data: ByteArray, at: np.int64) -> np.uint64:
    """Eight bytes in little-endian order."""
    word = np.uint64(0)
    for each in range(8):
        word |= np.uint64(data[at + each]) << np.uint64(8 * each)
    return word


@_small
def _half(data: ByteArray, at: np.int64) -> np.uint64:
    half = np.uint64(0)
    for each in range(4):
        half |= np.uint64(data[at + each]) << np.uint64(8 * each)
    return half


@njit(nogil=True)
def _hash_long(number: np.int64, seed: np.uint64) -> np.uint64:
    hash = seed + _P5 + np.uint64(8)
    hash ^= _round(np.uint64(0), np.uint64(number))
    return _mixed(_rotated(hash, 27) * _P1 + _P4)


@njit(nogil=True)
def _hash_bytes(data: ByteArray, at: np.int64, end: np.int64, seed: np.uint64) -> np.uint64:
    length = end - at
    if length >= 32:
        one, two, three, four = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
        while at + 32 <= end:
            one = _round(one, _word(data, at))
            two = _round(two, _word(data, at + 8))
            three = _round(three, _word(data, at + 16))
            four = _round(four, _word(data, at + 24))
            at += 32
        hash = _rotated(one, 1) + _rotated(two, 7) + _rotated(three, 12) + _rotated(four, 18)
        hash = _merged(_merged(_merged(_merged(hash, one), two), three), four)
    else:
        hash = seed + _P5
    hash += np.uint64(length)
    while at + 8 <= end:
        hash = _rotated(hash ^ _round(np.uint64(0), _word(data, at)), 27) * _P1 + _P4
        at += 8
    if at + 4 <= end:
        hash = _rotated(hash ^ (_half(data, at) * _P1), 23) * _P2 + _P3
        at += 4
    while at < end:
        hash = _rotated(hash ^ (np.uint64(data[at]) * _P5), 11) * _P1
        at += 1
    return _mixed(hash)


@njit(nogil=True)
def _hash_content(
    row: int, offsets: NDArray[np.int32], data: ByteArray, valid: NDArray[np.bool_], seed: np.uint64
) -> np.uint64:
    if not valid[row]:
        return _hash_long(_NULL, seed)
    at, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
    return _hash_bytes(data, at, end, _hash_long(end - at, seed))


@_kernel
def _hash_rows(
    offset: NDArray[np.int64],
    timestamp: NDArray[np.int64],
    key_offsets: NDArray[np.int32],
    key_data: ByteArray,
    key_valid: NDArray[np.bool_],
    value_offsets: NDArray[np.int32],
    value_data: ByteArray,
    value_valid: NDArray[np.bool_],
    header_lists: NDArray[np.int32],
    header_key_offsets: NDArray[np.int32],
    header_key_data: ByteArray,
    header_key_valid: NDArray[np.bool_],
    header_value_offsets: NDArray[np.int32],
    header_value_data: ByteArray,
    header_value_valid: NDArray[np.bool_],
    out: NDArray[np.int64],
) -> None:
    for row in range(len(offset)):
        hash = _hash_long(offset[row], np.uint64(SEED))
        hash = _hash_long(timestamp[row], hash)
        hash = _hash_content(row, key_offsets, key_data, key_valid, hash)
        hash = _hash_content(row, value_offsets, value_data, value_valid, hash)
        first, last = np.int64(header_lists[row]), np.int64(header_lists[row + 1])
        hash = _hash_long(last - first, hash)
        for header in range(first, last):
            at, end = np.int64(header_key_offsets[header]), np.int64(header_key_offsets[header + 1])
            hash = _hash_bytes(header_key_data, at, end, hash)
            hash = _hash_content(header, header_value_offsets, header_value_data, header_value_valid, hash)
        out[row] = np.int64(hash)


KERNEL = _hash_rows
"""For warm.py."""
