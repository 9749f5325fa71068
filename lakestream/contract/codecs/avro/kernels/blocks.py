"""Reads the headers of the blocks in which Avro writes the items of arrays and maps."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels import faults
from lakestream.contract.codecs.avro.kernels.numbers import number_at
from lakestream.world.compiled.compiling import small

EMPTY_ITEMS_MAX = 1_000
"""The limit in a block of items that take no bytes: the row's length does not bound their count."""


@small
def next_block(data, at, end, smallest):
    """(fault, items in it, position); no items: the list ends. `smallest`: the least size of an item in bytes.

    The size that follows a negative count is not used here.
    """
    count, at = number_at(data, at, end)
    if count < 0 and at <= end:
        count = np.int64(-count)
        _, at = number_at(data, at, end)
    if at > end:
        return faults.CUT_NUMBER, np.int64(0), at
    if count < 0 or count > (EMPTY_ITEMS_MAX if smallest == 0 else (end - at) // smallest):
        return faults.COUNT, count, at
    return faults.OK, count, at
