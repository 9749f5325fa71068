"""Reads strings, numbers and words into columns: (fault, position, style, kind of value).

A value that a column cannot hold is a fault if a schema declares the column; otherwise it is null there, unstyled.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels import faults, styles
from lakestream.contract.codecs.json.kernels.kinds import (
    BOOLEAN,
    DEEPER,
    DOUBLE,
    INT,
    IS_BOOLEAN,
    IS_DOUBLE,
    IS_LONG,
    IS_STRING,
    LONG,
    NOTHING,
    REST,
    STRING,
    TEXT,
)
from lakestream.contract.codecs.json.kernels.memory import (
    item64,
    put_double,
    put_int32,
    put_int64,
    put_item64,
    same_bytes,
    set_bit,
)
from lakestream.contract.codecs.json.kernels.number_writing import put_number
from lakestream.contract.codecs.json.kernels.numbers import (
    DIGITS_EXACT,
    DOUBLE_WHOLE_MAX,
    INT32_MAX,
    POWERS,
    SHORT_FROM,
    double_style,
    fits_long,
    long_number,
    number_parts,
)
from lakestream.contract.codecs.json.kernels.skipping import ALSE, TRUE, is_word
from lakestream.contract.codecs.json.kernels.string_writing import plain_in_style, put_string
from lakestream.contract.codecs.json.kernels.strings import HALF_SURROGATE, HAS_ESCAPES, string_end, unescaped
from lakestream.contract.codecs.json.kernels.styles import DECIMALS_MAX, FIXED, UNSTYLED
from lakestream.contract.codecs.json.kernels.views import ARENA
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import apart, small


@small
def store_text(fields, work, column, row, address, length, style):
    put_int64(item64(fields.values, column) + 8 * row, address)
    put_int32(item64(fields.lengths, column) + 4 * row, length)
    set_bit(item64(fields.valid, column), row)
    if style != UNSTYLED:
        put_int64(work.hint + 8 * column, style)


@small
def holds_raw(kind, declared):
    """Whether the column takes any JSON as text: a string column without a schema takes other values as their JSON."""
    return kind == TEXT or (kind == STRING and not declared)


@apart
def _escaped_style(hint, quote, after, text, length, scratch):
    """The style that writes the string with exactly these escapes, or UNSTYLED."""
    for style in (hint, styles.PLAIN, styles.ASCII, styles.HTML, styles.HTML_QUOTED):
        if style >= styles.PLAIN:
            behind = put_string(scratch, text, length, style)
            if behind - scratch == after - quote and same_bytes(scratch, quote, after - quote):
                return style
    return UNSTYLED


@small
def string_value(at, end, row, column, kind, declared, fields, work):
    """(fault, position, style, kind of value)"""
    fault, quote, flags = string_end(at + 1, end)
    if fault != faults.OK:
        return fault, quote, UNSTYLED, 0
    after = quote + 1
    if kind == TEXT:
        store_text(fields, work, column, row, at, after - at, styles.RAW)
        return faults.OK, after, styles.RAW, IS_STRING
    if kind != STRING:
        if kind == REST:
            return DEEPER, at, UNSTYLED, 0
        return (faults.MISFIT if declared and kind != NOTHING else faults.OK), after, UNSTYLED, IS_STRING
    if flags & HALF_SURROGATE:
        return (faults.SURROGATE if declared else faults.OK), after, UNSTYLED, IS_STRING
    if flags & HAS_ESCAPES:
        text = work.arena + item64(work.state, ARENA)
        length = unescaped(at + 1, quote, text)
        put_item64(work.state, ARENA, item64(work.state, ARENA) + length)
        style = _escaped_style(item64(work.hint, column), at, after, text, length, work.scratch)
        store_text(fields, work, column, row, text, length, style)
        return faults.OK, after, style, IS_STRING
    style = styles.PLAIN
    hint = item64(work.hint, column)
    if hint > styles.PLAIN and flags == 0 and plain_in_style(at + 1, quote, hint) == quote:
        style = hint
    store_text(fields, work, column, row, at + 1, quote - at - 1, style)
    return faults.OK, after, style, IS_STRING


@apart
def _style_by_trial(hint, decimals, at, end, number, scratch):
    """The style that writes exactly these digits, or UNSTYLED."""
    put_double(scratch, number)
    text = scratch + 8
    fixed = FIXED + decimals if 0 < decimals <= DECIMALS_MAX else styles.SHORT
    for style in (hint, styles.SHORT_WITH_POINT, styles.SHORT, fixed):
        behind = put_number(text, scratch, style)
        if behind - text == end - at and same_bytes(text, at, end - at):
            return style
    return UNSTYLED


@small
def number_value(at, end, row, column, kind, declared, fields, work):
    fault, after, digits, count, decimals, last_is_zero, exponent = number_parts(at, end)
    if fault != faults.OK:
        return fault, after, UNSTYLED, 0
    negative = byte_at(at) == 45
    whole = decimals < 0 and not exponent
    is_long = fits_long(digits, count, decimals, exponent, negative)
    value_kind = IS_LONG if is_long else IS_DOUBLE
    if kind in (LONG, INT):
        number = -digits if negative else digits
        if is_long and (kind == LONG or -INT32_MAX - 1 <= number <= INT32_MAX):
            if kind == LONG:
                put_int64(item64(fields.values, column) + 8 * row, number)
            else:
                put_int32(item64(fields.values, column) + 4 * row, number)
            set_bit(item64(fields.valid, column), row)
            return faults.OK, after, (UNSTYLED if negative and digits == 0 else styles.WHOLE), value_kind
        if not declared:
            return faults.OK, after, UNSTYLED, value_kind
        return (faults.TOO_LARGE if whole else faults.MISFIT), after, UNSTYLED, value_kind
    if kind == DOUBLE:
        if not exponent and count <= 16 and digits <= DOUBLE_WHOLE_MAX and decimals <= DECIMALS_MAX:
            number_double = np.float64(digits) / POWERS[max(decimals, 0)]
            if negative:
                number_double = -number_double
        else:
            number_double = long_number(at, after, work.scratch)
            if np.isinf(number_double):
                return (faults.TOO_LARGE if declared else faults.OK), after, UNSTYLED, value_kind
        if not exponent and count <= DIGITS_EXACT and (digits == 0 or abs(number_double) >= SHORT_FROM):
            style = double_style(item64(work.hint, column), decimals, last_is_zero)
        else:
            style = _style_by_trial(item64(work.hint, column), decimals, at, after, number_double, work.scratch)
        if style != UNSTYLED:
            put_int64(work.hint + 8 * column, style)
        put_double(item64(fields.values, column) + 8 * row, number_double)
        set_bit(item64(fields.valid, column), row)
        return faults.OK, after, style, value_kind
    if holds_raw(kind, declared):
        store_text(fields, work, column, row, at, after - at, styles.RAW)
        return faults.OK, after, styles.RAW, value_kind
    return (faults.MISFIT if declared and kind != NOTHING else faults.OK), after, UNSTYLED, value_kind


@small
def word_value(at, end, row, column, kind, declared, fields, work):
    """true or false"""
    true = byte_at(at) == 116
    ok = is_word(at, end, 4, TRUE) if true else is_word(at, end, 5, ALSE)
    if not ok:
        return faults.LITERAL, at, UNSTYLED, 0
    after = at + (4 if true else 5)
    if kind == BOOLEAN:
        if true:
            set_bit(item64(fields.values, column), row)
        set_bit(item64(fields.valid, column), row)
        return faults.OK, after, styles.BOOLEAN, IS_BOOLEAN
    if holds_raw(kind, declared):
        store_text(fields, work, column, row, at, after - at, styles.RAW)
        return faults.OK, after, styles.RAW, IS_BOOLEAN
    return (faults.MISFIT if declared and kind != NOTHING else faults.OK), after, UNSTYLED, IS_BOOLEAN


@small
def is_misfit(fault):
    """Whether the fault lies in the value itself, not behind it."""
    return fault == faults.MISFIT or fault == faults.TOO_LARGE or fault == faults.SURROGATE
