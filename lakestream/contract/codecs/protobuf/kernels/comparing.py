"""Compares written values with the original ones: same_rows."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.contract.codecs.protobuf.kernels.compiling import kernel


@kernel
def same_rows(data, offsets, other, other_offsets, same):
    """Which rows have the same bytes in both."""
    for row in range(same.size):
        length = np.int64(offsets[row + 1]) - np.int64(offsets[row])
        at = np.int64(offsets[row])
        other_at = np.int64(other_offsets[row])
        equal = length == np.int64(other_offsets[row + 1]) - other_at
        if equal:
            different = np.uint8(0)
            for k in range(length):  # to the end: without an early exit, the compiler vectorizes the loop
                different |= data[at + k] ^ other[other_at + k]
            equal = different == 0
        same[row] = equal
