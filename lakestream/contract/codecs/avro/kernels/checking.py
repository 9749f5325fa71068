"""Checks which rows are exact: writes each again from its columns and compares the bytes."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels import faults
from lakestream.contract.codecs.avro.kernels.compiling import kernel
from lakestream.contract.codecs.avro.kernels.memory import get, put, word_at
from lakestream.contract.codecs.avro.kernels.row_writing import write_row
from lakestream.world.compiled.compiling import small


@small
def _same_bytes(one, other, at, length):
    """Compares the first `length` bytes of `one` with those of `other` from `at` on."""
    if length >= 8:
        k = 0
        while length - k > 8:
            if word_at(one, k) != word_at(other, at + k):
                return False
            k += 8
        return word_at(one, length - 8) == word_at(other, at + length - 8)
    for k in range(length):  # noqa: SIM110  # no generators in Numba
        if get(one, k) != get(other, at + k):
            return False
    return True


@kernel
def check_rows(data, offsets, exact, scratch, ops, nodes, levels, symbols, symbol_starts, ranks):
    """Clear the mark in `exact` of each row that does not encode to its original bytes.

    `scratch` has room for the longest row, and SLACK_BYTES (row_writing.py) behind it.
    """
    for row in range(offsets.size - 1):
        if get(exact, row) == 0:
            continue
        at = np.int64(get(offsets, row))
        length = np.int64(get(offsets, row + 1)) - at
        put(levels, 0, row)
        fault, _, after = write_row(scratch, np.int64(0), length, ops, nodes, levels, symbols, symbol_starts, ranks)
        if fault != faults.OK or after != length or not _same_bytes(scratch, data, at, length):
            put(exact, row, np.uint8(0))
