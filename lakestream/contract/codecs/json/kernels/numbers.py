"""Reads JSON numbers: their digits, and the styles in which a double gives these digits back."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np
from numba import types

from lakestream.contract.codecs.json.kernels import faults, styles
from lakestream.contract.codecs.json.kernels.memory import move, put_byte
from lakestream.contract.codecs.json.kernels.styles import DECIMALS_MAX, FIXED, UNSTYLED
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import apart, small

INT64_MIN, INT32_MAX = -(2**63), 2**31 - 1
DOUBLE_WHOLE_MAX = 2**53
"""Doubles represent whole numbers up to this one exactly."""
DIGITS_EXACT = 15
SHORT_FROM = 1e-4
"""No style writes numbers from here to 10**15 with an exponent."""
POWERS = np.array([10.0**power for power in range(DECIMALS_MAX + 1)])


_strtod = types.ExternalFunction("strtod", types.float64(types.int64, types.int64))
"""Rounds as IEEE 754 requires. Used only for numbers that are too long for exact arithmetic."""


@small
def number_parts(at, end):
    """(fault, behind it, digits as one number, how many are significant, decimals or -1, last is 0, has an exponent)"""
    start = at
    if byte_at(at) == 45:
        at += 1
    digits = np.int64(0)
    count = 0
    decimals = -1
    if at >= end:
        return faults.NUMBER, start, digits, count, decimals, False, False
    if byte_at(at) == 48:
        at += 1
        if at < end and 48 <= byte_at(at) <= 57:
            return faults.LEADING_ZERO, start, digits, count, decimals, False, False
    else:
        first = at
        while at < end:
            digit = byte_at(at) - 48
            if digit < 0 or digit > 9:
                break
            digits = digits * 10 + digit
            at += 1
        count = at - first
        if count == 0:
            return faults.NUMBER, start, digits, count, decimals, False, False
    if at < end and byte_at(at) == 46:
        at += 1
        first = at
        while at < end:
            digit = byte_at(at) - 48
            if digit < 0 or digit > 9:
                break
            digits = digits * 10 + digit
            if count > 0 or digit > 0:
                count += 1
            at += 1
        decimals = at - first
        if decimals == 0:
            return faults.NUMBER, start, digits, count, decimals, False, False
    last_is_zero = byte_at(at - 1) == 48
    if at < end and (byte_at(at) | 32) == 101:
        at += 1
        if at < end and (byte_at(at) == 43 or byte_at(at) == 45):
            at += 1
        first = at
        while at < end and 48 <= byte_at(at) <= 57:
            at += 1
        if at == first:
            return faults.NUMBER, start, digits, count, decimals, False, False
        return faults.OK, at, digits, count, decimals, last_is_zero, True
    return faults.OK, at, digits, count, decimals, last_is_zero, False


@apart
def long_number(at, end, scratch):
    """The double nearest to a proven number of any length."""
    move(scratch, at, end - at)
    put_byte(scratch + end - at, 0)
    return _strtod(scratch, np.int64(0))


@small
def _double_style_fits(style, decimals, last_is_zero):
    if style == styles.SHORT:
        return decimals < 0 or not last_is_zero
    if style == styles.SHORT_WITH_POINT:
        return decimals == 1 or (decimals > 1 and not last_is_zero)
    return decimals > 0 and style == FIXED + decimals


@small
def double_style(hint, decimals, last_is_zero):
    """The previous row's style if it fits: 1.25 and 1.50 then both have two decimals."""
    if _double_style_fits(hint, decimals, last_is_zero):
        return hint
    if decimals < 0:
        return styles.SHORT
    if decimals == 1 or not last_is_zero:
        return styles.SHORT_WITH_POINT
    return FIXED + decimals if decimals <= DECIMALS_MAX else UNSTYLED


@small
def fits_long(digits, count, decimals, exponent, negative):
    whole = decimals < 0 and not exponent
    return whole and (count < 19 or (count == 19 and (digits >= 0 or (negative and digits == INT64_MIN))))
