"""Arrow's view arrays: values that point into any number of buffers."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

from typing import Any, NamedTuple

import numpy as np

from lakestream.storage.records.kernels.bits import has_bit
from lakestream.storage.records.kernels.compiling import kernel
from lakestream.world.compiled.compiling import small

# An Arrow view is four numbers. A value of up to VIEW_INLINE_BYTES lies in the view itself, from the second number on.
VIEW_LENGTH, VIEW_PREFIX, VIEW_BUFFER, VIEW_START = range(4)
VIEW_NUMBERS, VIEW_BYTES = 4, 16
VIEW_INLINE_BYTES = 12
BUFFER_ADDRESS, BUFFER_BYTES = range(2)


class Views(NamedTuple):
    """Values as Arrow's views. Empty where `Columns` has the values."""

    numbers: Any
    """Four numbers for each value."""
    buffers: Any
    """Address and size of each buffer that views point into: first of the views themselves, then of the data
    buffers."""


@small
def view(views, bitmap, first_bit, row):
    """Length and address of a value in a column of Arrow's views. The address is 0 for a value without bytes, and -1
    for an invalid view."""
    if not has_bit(bitmap, first_bit + row):
        return np.int64(-1), np.int64(0)
    length = np.int64(views.numbers[row, VIEW_LENGTH])
    if length == 0:
        return length, np.int64(0)
    if length < 0:
        return length, np.int64(-1)
    if length <= VIEW_INLINE_BYTES:  # in the view itself, behind the length
        return length, np.int64(views.buffers[0, BUFFER_ADDRESS] + row * VIEW_BYTES + 4)
    buffer = np.int64(views.numbers[row, VIEW_BUFFER]) + 1
    start = np.int64(views.numbers[row, VIEW_START])
    if buffer < 1 or buffer >= views.buffers.shape[0] or start < 0:
        return length, np.int64(-1)
    if start + length > views.buffers[buffer, BUFFER_BYTES]:
        return length, np.int64(-1)
    return length, np.int64(views.buffers[buffer, BUFFER_ADDRESS] + start)


@kernel
def plain_views(page, at, count, buffer, views, first):
    """Make Arrow views on a page of PLAIN Parquet values, each of which follows its length in four bytes. Returns
    whether the page holds exactly `count` values and nothing else."""
    end = np.int64(page.size)
    for row in range(first, first + count):
        if at < 0 or end - at < 4:
            return False
        length = np.int64(_word(page, at, 4))
        at += 4
        if length < 0 or length > end - at:
            return False
        views[row, VIEW_LENGTH] = length
        if length > VIEW_INLINE_BYTES:
            views[row, VIEW_PREFIX] = _word(page, at, 4)
            views[row, VIEW_BUFFER] = buffer
            views[row, VIEW_START] = at
        else:
            for number in range(3):
                views[row, 1 + number] = _word(page, at + 4 * number, min(4, max(0, length - 4 * number)))
        at += length
    return at == end


@small
def _word(page, at, count):
    """Up to four bytes, the lowest first."""
    word = np.uint32(0)
    for number in range(count):
        word |= np.uint32(page[at + number]) << np.uint32(8 * number)
    return np.int32(word)
