"""Skips values of any kind, and proves that they are JSON: (fault, position behind, or of the fault)."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels import faults
from lakestream.contract.codecs.json.kernels.faults import NESTING_MAX
from lakestream.contract.codecs.json.kernels.kinds import (
    ELEMENTS,
    IS_ARRAY,
    IS_BOOLEAN,
    IS_DOUBLE,
    IS_LONG,
    IS_OBJECT,
    IS_ODD,
    IS_STRING,
)
from lakestream.contract.codecs.json.kernels.memory import half_word_at
from lakestream.contract.codecs.json.kernels.numbers import fits_long, number_parts
from lakestream.contract.codecs.json.kernels.strings import string_end
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import apart, small


@small
def behind_space(at, end):
    while at < end:
        byte = byte_at(at)
        if byte > 32 or not (byte == 32 or byte == 10 or byte == 13 or byte == 9):
            return at
        at += 1
    return at


@small
def is_word(at, end, length, first_four):
    """Whether true, null or (f)alse stands here; `first_four` has its letters as a little-endian number."""
    return at + length <= end and half_word_at(at + length - 4) == first_four


TRUE, NULL, ALSE = 0x65757274, 0x6C6C756E, 0x65736C61


@apart
def scalar_end(at, end):
    """(fault, position) behind a string, a number or a word of a nested value."""
    byte = byte_at(at)
    if byte == 34:
        fault, at, _ = string_end(at + 1, end)
        return fault, (at + 1 if fault == faults.OK else at)
    if byte == 45 or 48 <= byte <= 57:
        fault, at, _, _, _, _, _ = number_parts(at, end)
        return fault, at
    if byte == 116 or byte == 110:
        ok = is_word(at, end, 4, TRUE if byte == 116 else NULL)
        return (faults.OK, at + 4) if ok else (faults.LITERAL, at)
    if byte == 102:
        ok = is_word(at, end, 5, ALSE)
        return (faults.OK, at + 5) if ok else (faults.LITERAL, at)
    if (byte | 32) >= 97 and (byte | 32) <= 122:
        return faults.LITERAL, at
    return faults.NO_VALUE, at


@apart
def _key_end(at, end):
    """(fault, position) behind a nested object's key and its colon, up to the value."""
    if at >= end:
        return faults.CUT_OFF, at
    if byte_at(at) != 34:
        return faults.NO_KEY, at
    fault, at, _ = string_end(at + 1, end)
    if fault != faults.OK:
        return fault, at
    at = behind_space(at + 1, end)
    if at >= end:
        return faults.CUT_OFF, at
    if byte_at(at) != 58:
        return faults.NO_COLON, at
    return faults.OK, behind_space(at + 1, end)


@apart
def nested_end(at, end):
    """(fault, position) behind the object or array that begins here. Levels are bits: 1 for an object."""
    levels = np.uint64(0)
    depth = 0
    while True:
        # a value must follow
        if at >= end:
            return faults.CUT_OFF, at
        byte = byte_at(at)
        opened = byte == 123 or byte == 91
        if opened:
            if depth == NESTING_MAX:
                return faults.TOO_DEEP, at
            is_object = byte == 123
            levels = (levels << np.uint64(1)) | np.uint64(1 if is_object else 0)
            depth += 1
            at = behind_space(at + 1, end)
            if at >= end:
                return faults.CUT_OFF, at
            if byte_at(at) != (125 if is_object else 93):
                if is_object:
                    fault, at = _key_end(at, end)
                    if fault != faults.OK:
                        return fault, at
                continue
        else:
            fault, at = scalar_end(at, end)
            if fault != faults.OK:
                return fault, at
        # a value is done: close levels, or go on to the next value
        while True:
            at = behind_space(at, end)
            if at >= end:
                return faults.CUT_OFF, at
            byte = byte_at(at)
            in_object = (levels & np.uint64(1)) != np.uint64(0)
            if byte == (125 if in_object else 93):
                levels >>= np.uint64(1)
                depth -= 1
                at += 1
                if depth == 0:
                    return faults.OK, at
                continue
            if byte != 44:
                return faults.NO_COMMA, at
            at = behind_space(at + 1, end)
            if in_object:
                fault, at = _key_end(at, end)
                if fault != faults.OK:
                    return fault, at
            break


@apart
def array_kinds(at, end):
    """(position behind a proven array, its kind and those of its elements)"""
    kinds = 0
    space = -1
    start = at + 1
    at = behind_space(start, end)
    kinds |= IS_ODD if at > start else 0
    while byte_at(at) != 93:
        byte = byte_at(at)
        if byte == 123 or byte == 91:
            _, at = nested_end(at, end)
            kinds |= IS_OBJECT if byte == 123 else IS_ARRAY
        elif byte == 34:
            _, at = scalar_end(at, end)
            kinds |= IS_STRING
        elif byte == 45 or 48 <= byte <= 57:
            negative = byte == 45
            _, at, digits, count, decimals, _, exponent = number_parts(at, end)
            kinds |= IS_LONG if fits_long(digits, count, decimals, exponent, negative) else IS_DOUBLE
        else:
            _, at = scalar_end(at, end)
            kinds |= 0 if byte == 110 else IS_BOOLEAN
        start = at
        at = behind_space(start, end)
        kinds |= IS_ODD if at > start else 0
        if byte_at(at) == 44:
            start = at + 1
            at = behind_space(start, end)
            space = at - start if space < 0 else space
            kinds |= IS_ODD if at - start != space or space > 1 else 0
    return at + 1, IS_ARRAY | (kinds << ELEMENTS)


@small
def key_at(at, end):
    """(fault, its position; key, position behind it, flags, position of the value); the key must begin at `at`"""
    if at >= end:
        return faults.CUT_OFF, at, at, at, 0, at
    if byte_at(at) != 34:
        return faults.NO_KEY, at, at, at, 0, at
    key = at + 1
    fault, key_end, flags = string_end(key, end)
    if fault != faults.OK:
        return fault, key_end, key, key, flags, at
    at = behind_space(key_end + 1, end)
    if at >= end:
        return faults.CUT_OFF, at, key, key_end, flags, at
    if byte_at(at) != 58:
        return faults.NO_COLON, at, key, key_end, flags, at
    at = behind_space(at + 1, end)
    return (faults.OK if at < end else faults.CUT_OFF), at, key, key_end, flags, at
