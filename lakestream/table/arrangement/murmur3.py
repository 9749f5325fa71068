"""Iceberg's hash of values (murmur3, 32 bits, seed 0) for whole columns: what `bucket[n]` is made from.

    numbers and times  8 bytes, little-endian     text, bytes, uuids  their bytes     decimals  digits, big-endian

Values of one column are hashed together, four bytes of each at a time. The longest come first, so that those which have
no bytes left fall off the end.

    https://iceberg.apache.org/spec/#appendix-b-32-bit-hash-requirements
"""

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint32]

_C1, _C2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
_FIVE, _ADDED = np.uint32(5), np.uint32(0xE6546B64)
_MIX_1, _MIX_2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
_BLOCK = 4


def hashed_longs(values: NDArray[np.int64]) -> Hashes:
    words = np.ascontiguousarray(values).view(np.uint32).reshape(-1, 2)
    state = _with_block(np.zeros(len(values), np.uint32), words[:, 0])
    return _finished(_with_block(state, words[:, 1]), np.full(len(values), 8, np.uint32))


def hashed_bytes(data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Hashes:
    """The hash of each stretch of `data`."""
    order = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    blocks = lengths // _BLOCK
    state = np.zeros(len(lengths), np.uint32)
    padded = np.concatenate([data, np.zeros(_BLOCK, np.uint8)])
    for block in range(int(blocks[0]) if len(blocks) else 0):
        count = int(np.searchsorted(-blocks, -block, side="left"))  # those with more blocks than this
        state[:count] = _with_block(state[:count], _words(padded, starts[:count] + _BLOCK * block))
    left = (lengths % _BLOCK).astype(np.uint32)
    words = _words(padded, starts + _BLOCK * blocks)
    kept = np.where(left > 0, (np.uint64(1) << (np.uint64(8) * left.astype(np.uint64))) - np.uint64(1), 0)
    state ^= np.where(left > 0, _scrambled(words & kept.astype(np.uint32)), np.uint32(0))
    found = np.empty(len(lengths), np.uint32)
    found[order] = _finished(state, lengths.astype(np.uint32))
    return found


def _words(data: NDArray[np.uint8], at: NDArray[np.int64]) -> Hashes:
    """Four bytes from each position, little-endian."""
    parts = [data[at + place].astype(np.uint32) << np.uint32(8 * place) for place in range(_BLOCK)]
    words: Hashes = parts[0] | parts[1] | parts[2] | parts[3]
    return words


def _with_block(state: Hashes, words: Hashes) -> Hashes:
    return _rotated(state ^ _scrambled(words), 13) * _FIVE + _ADDED


def _scrambled(words: Hashes) -> Hashes:
    return _rotated(words * _C1, 15) * _C2


def _rotated(words: Hashes, bits: int) -> Hashes:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))


def _finished(state: Hashes, lengths: Hashes) -> Hashes:
    state = state ^ lengths
    state = (state ^ (state >> np.uint32(16))) * _MIX_1
    state = (state ^ (state >> np.uint32(13))) * _MIX_2
    return state ^ (state >> np.uint32(16))
