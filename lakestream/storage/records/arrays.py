"""Converts bytes to the one array type that the kernels are compiled for: flat, read-only, not copied."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lakestream.storage.records.header import Bytes

ByteArray: TypeAlias = NDArray[np.uint8]
IntArray: TypeAlias = NDArray[np.int64]


def as_array(buffer: Bytes) -> ByteArray:
    return np.frombuffer(memoryview(buffer).toreadonly(), dtype=np.uint8)
