"""Counts keys that no column has, by object and kind of value, for the columns that they may become.

Only rows without a fault count, so the notes of a row are kept apart until it ends.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels.finding import find_text
from lakestream.contract.codecs.json.kernels.kinds import DONE, ELEMENTS, IS_OBJECT, TOP
from lakestream.contract.codecs.json.kernels.memory import item64, put_int32, put_int64, put_item64
from lakestream.contract.codecs.json.kernels.views import (
    ARRAYS,
    ARRAYS_MAX,
    STAMP,
    UNKNOWN,
    UNKNOWN_MAX,
    UNKNOWN_NOW,
    UNKNOWN_SLOTS,
    UNKNOWN_TRIES_MAX,
)
from lakestream.world.compiled.compiling import apart, small


@small
def context_of(unknown):
    """The context number of an object that has no column."""
    return DONE - 1 - unknown


@apart
def outer_of(context, fields, work):
    """The context of the object around an object."""
    if context > TOP:
        return item64(fields.parent, context)
    return item64(work.unknown_context, DONE - 1 - context)


@apart
def depth_of(context, fields, work):
    if context == TOP:
        return np.int64(0)
    if context > TOP:
        return item64(fields.depth, context) + 1
    return item64(work.unknown_depth, DONE - 1 - context) + 1


@apart
def seen_unknown(context, address, length, fields, work):
    """(number of the unknown key or -1 if no more are counted, whether this row had it before)"""
    found, slot = find_text(
        work.unknown_slots,
        UNKNOWN_SLOTS,
        UNKNOWN_TRIES_MAX,
        work.unknown_context,
        work.unknown_address,
        work.unknown_length,
        context,
        address,
        length,
    )
    if found < 0:
        found = item64(work.state, UNKNOWN)
        if found >= UNKNOWN_MAX or slot < 0:
            return np.int64(-1), False
        put_item64(work.state, UNKNOWN, item64(work.state, UNKNOWN) + 1)
        put_int32(work.unknown_slots + 4 * slot, found)
        put_int64(work.unknown_context + 8 * found, context)
        put_int64(work.unknown_address + 8 * found, address)
        put_int64(work.unknown_length + 8 * found, length)
        put_item64(work.unknown_kinds, found, 0)
        put_item64(work.unknown_seen, found, 0)
        put_item64(work.unknown_count, found, 0)
        put_item64(work.unknown_depth, found, depth_of(context, fields, work))
    if item64(work.unknown_seen, found) == item64(work.state, STAMP):
        return found, True
    put_item64(work.unknown_seen, found, item64(work.state, STAMP))
    return found, False


@small
def note_unknown(work, unknown, kind, at, end):
    """Note an unknown key of this row. Its value stands from `at` to `end`."""
    now = item64(work.state, UNKNOWN_NOW)
    put_item64(work.unknown_now, now, unknown)
    put_item64(work.unknown_now_kind, now, kind)
    put_item64(work.unknown_now_at, now, at)
    put_item64(work.unknown_now_end, now, end)
    put_item64(work.state, UNKNOWN_NOW, now + 1)


@apart
def count_unknown(work):
    for now in range(item64(work.state, UNKNOWN_NOW)):
        unknown = item64(work.unknown_now, now)
        kinds = item64(work.unknown_kinds, unknown) | item64(work.unknown_now_kind, now)
        put_item64(work.unknown_kinds, unknown, kinds)
        put_item64(work.unknown_count, unknown, item64(work.unknown_count, unknown) + 1)
        array = item64(work.state, ARRAYS)
        if item64(work.unknown_now_kind, now) >> ELEMENTS == IS_OBJECT and array < ARRAYS_MAX:
            put_item64(work.array_unknown, array, unknown)
            put_item64(work.array_at, array, item64(work.unknown_now_at, now))
            put_item64(work.array_end, array, item64(work.unknown_now_end, now))
            put_item64(work.state, ARRAYS, array + 1)
    put_item64(work.state, UNKNOWN_NOW, 0)
