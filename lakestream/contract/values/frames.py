"""Frames: a zero byte and a schema id in front of values whose schema is registered, many values at once."""

# mypy: disable-error-code="no-untyped-call, call-arg, unreachable"
# What Numba compiles is typed by Numba.

import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakestream.world.compiled.compiling import kernels_of
from lakestream.world.compiled.copying import copy

FRAME_BYTES = 5
"""A zero, and the id in four bytes, big-endian."""
UNFRAMED = -1
_FRAME = struct.Struct(">bi")

_kernel = kernels_of(Path(__file__).parent)


def schema_ids(values: pa.BinaryArray) -> NDArray[np.int64]:
    """The id in front of each value; UNFRAMED if there is none. `values` has no nulls."""
    ids = np.empty(len(values), np.int64)
    _read_ids(*_content(values), ids)
    return ids


def without_frame(values: pa.BinaryArray) -> pa.BinaryArray:
    """The values without their frames; all must have one, and none may be null. (Arrow's own `binary_slice` fails
    without an end.)"""
    data, starts = _content(values)
    cut = np.empty(int(starts[-1] - starts[0]) - FRAME_BYTES * len(values), np.uint8)
    cut_starts = np.empty(len(starts), np.int32)
    _cut_frames(data, starts, cut, cut_starts)
    return pa.Array.from_buffers(pa.binary(), len(values), [None, pa.py_buffer(cut_starts), pa.py_buffer(cut)])


def with_frame(values: pa.BinaryArray, number: int) -> pa.BinaryArray:
    """The values with frames. None of them may be null."""
    return pc.binary_join_element_wise(pa.scalar(_FRAME.pack(0, number), pa.binary()), values, b"")


def warm() -> int:
    """Compile the kernels that are not yet in the cache. Returns how many."""
    framed = pa.array([_FRAME.pack(0, 1) + b"x"], pa.binary())
    schema_ids(framed)
    without_frame(framed)
    return sum(len(kernel.stats.cache_misses) for kernel in (_read_ids, _cut_frames))


def _content(values: pa.BinaryArray) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """(bytes, the offsets of the values in them and of the end)"""
    starts = np.frombuffer(values.buffers()[1], np.int32)[values.offset : values.offset + len(values) + 1]
    return np.frombuffer(values.buffers()[2] or b"", np.uint8), starts


@_kernel
def _read_ids(data: NDArray[np.uint8], starts: NDArray[np.int32], ids: NDArray[np.int64]) -> None:
    for row in range(len(ids)):
        at = starts[row]
        ids[row] = UNFRAMED
        if starts[row + 1] - at >= FRAME_BYTES and data[at] == 0 and data[at + 1] < 128:
            id = np.int64(0)
            for byte in range(1, FRAME_BYTES):
                id = (id << 8) | np.int64(data[at + byte])
            ids[row] = id


@_kernel
def _cut_frames(
    data: NDArray[np.uint8], starts: NDArray[np.int32], cut: NDArray[np.uint8], cut_starts: NDArray[np.int32]
) -> None:
    end = np.int64(0)
    for row in range(len(starts) - 1):
        cut_starts[row] = end
        at = np.int64(starts[row]) + FRAME_BYTES
        length = starts[row + 1] - at
        copy(cut, end, data, at, length)
        end += length
    cut_starts[len(starts) - 1] = end
