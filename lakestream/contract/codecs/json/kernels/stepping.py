"""Steps from one value to the next: over commas, keys and brackets, into objects that are structs and out of them."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels import faults
from lakestream.contract.codecs.json.kernels.finding import column_of
from lakestream.contract.codecs.json.kernels.kinds import DONE, IS_OBJECT, STRUCT, STRUCT_DEPTH_MAX, TOP
from lakestream.contract.codecs.json.kernels.memory import item64, put_item64, set_bit
from lakestream.contract.codecs.json.kernels.skipping import behind_space, key_at
from lakestream.contract.codecs.json.kernels.strings import HALF_SURROGATE, HAS_ESCAPES, unescaped
from lakestream.contract.codecs.json.kernels.unknown_keys import (
    context_of,
    depth_of,
    note_unknown,
    outer_of,
    seen_unknown,
)
from lakestream.contract.codecs.json.kernels.views import ARENA, OPENS, STAMP, UNKNOWN
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import apart


@apart
def open_struct(work, fields, struct, row):
    put_item64(work.seen, struct, item64(work.state, STAMP))
    set_bit(item64(fields.valid, struct), row)


@apart
def plain_slot(at, end, first):
    """`next_slot` for the outermost object, up to a value of any kind: (fault, position, whether the row ends)"""
    at = behind_space(at, end)
    if at >= end:
        return (faults.EMPTY if first else faults.CUT_OFF), at, False
    byte = byte_at(at)
    if byte != (123 if first else 44) and not (byte == 125 and not first):
        return (faults.NO_OBJECT if first else faults.NO_COMMA), at, False
    if byte != 125:
        at = behind_space(at + 1, end)
        if first and at < end:
            byte = byte_at(at)
    if byte == 125:
        at = behind_space(at + 1, end)
        return (faults.OK if at == end else faults.TRAILING), at, True
    fault, at, _, _, _, _ = key_at(at, end)
    return fault, at, False


@apart
def next_slot(at, end, row, first, context, counted, declared, fields, keys, work):
    """Step from behind a value, or from the start of a row, to the next value that has a slot, or to the row's end.

    Returns (fault, position of the value or of the fault, column or -1, number of the unknown key or -1, object it is
    in). On the way objects may end and others begin. `counted`: the row has left the tree, so all keys are checked and
    their columns looked up; otherwise only those of keys that may lead into an object.
    """
    none = np.int64(-1)
    opened = False
    if first:
        at = behind_space(at, end)
        if at >= end:
            return faults.EMPTY, at, none, none, context
        if byte_at(at) != 123:
            return faults.NO_OBJECT, at, none, none, context
        opened = True
        at += 1
    while True:
        at = behind_space(at, end)
        if at >= end:
            return faults.CUT_OFF, at, none, none, context
        member = at
        if byte_at(at) == 125:
            at += 1
            if context == TOP:
                at = behind_space(at, end)
                return (faults.OK if at == end else faults.TRAILING), at, none, none, np.int64(DONE)
            context = outer_of(context, fields, work)
            opened = False
            continue
        if not opened:
            if byte_at(at) != 44:
                return faults.NO_COMMA, at, none, none, context
            at = behind_space(at + 1, end)
        fault, where, key, key_end, flags, value = key_at(at, end)
        if fault != faults.OK:
            return fault, where, none, none, context
        is_object = byte_at(value) == 123
        takes_rest = context == TOP and fields.rest >= 0
        if not (counted or is_object or takes_rest):
            return faults.OK, value, none, none, context
        if flags & HALF_SURROGATE and not takes_rest:
            if counted and context == TOP:
                return faults.SURROGATE_KEY, key, none, none, context
            return faults.OK, value, none, none, context
        column = none
        unknown = none
        text = key
        length = key_end - key
        if context >= TOP and not flags & HALF_SURROGATE:
            column, text, length = column_of(context, key, key_end, flags, keys, work)
        elif flags & HAS_ESCAPES and not flags & HALF_SURROGATE:
            text = work.arena + item64(work.state, ARENA)
            length = unescaped(key, key_end, text)
        if column < 0 and takes_rest:
            return faults.OK, key - 1, np.int64(fields.rest), none, context
        if counted and column >= 0:
            if item64(work.seen, column) == item64(work.state, STAMP):
                return faults.TWICE, member, column, none, context
            put_item64(work.seen, column, item64(work.state, STAMP))
        elif counted:
            unknown, twice = seen_unknown(context, text, length, fields, work)
            if text != key and unknown == item64(work.state, UNKNOWN) - 1:
                put_item64(work.state, ARENA, item64(work.state, ARENA) + length)
            if twice:
                if context == TOP:
                    return faults.TWICE, key, none, none, context
                unknown = none
        if not is_object:
            return faults.OK, value, column, unknown, context
        if column >= 0 and item64(fields.kind, column) == STRUCT:
            if counted:
                open_struct(work, fields, column, row)
                put_item64(work.open_at, item64(work.state, OPENS), value)
                put_item64(work.open_column, item64(work.state, OPENS), column)
                put_item64(work.state, OPENS, item64(work.state, OPENS) + 1)
            context = column
        elif unknown >= 0 and not declared and depth_of(context, fields, work) < STRUCT_DEPTH_MAX:
            note_unknown(work, unknown, IS_OBJECT, value, value)
            context = context_of(unknown)
        else:
            return faults.OK, value, column, unknown, context
        opened = True
        at = value + 1
