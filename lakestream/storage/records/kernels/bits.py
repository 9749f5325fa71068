"""Reads and sets bits of validity bitmaps. In an empty bitmap every bit counts as set."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from lakestream.world.compiled.compiling import small


@small
def set_bit(bitmap, row):
    bitmap[row >> 3] |= np.uint8(1 << (row & 7))


@small
def has_bit(bitmap, row):
    return bitmap.size == 0 or (bitmap[row >> 3] >> np.uint8(row & 7)) & 1
