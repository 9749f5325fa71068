"""Gathers texts from anywhere in memory into an Arrow array."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.json.kernels.gathering import gather


def gathered(
    type: pa.DataType, addresses: NDArray[np.int64], lengths: NDArray[np.int32], valid: pa.Buffer | None = None
) -> pa.Array:
    """An array of strings or bytes, from their addresses and lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    text = np.empty(int(lengths.sum(dtype=np.int64)), np.uint8)
    gather(addresses, lengths, offsets, text.ctypes.data)
    return pa.Array.from_buffers(type, len(lengths), [valid, pa.py_buffer(offsets), pa.py_buffer(text)])
