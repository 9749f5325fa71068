"""Reads JSON strings: where they end, their faults, and their text without escapes.

Eight bytes are inspected together. Most strings are plain: no escapes, and nothing but ASCII.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels import faults
from lakestream.contract.codecs.json.kernels.memory import half_word_at, put_byte, trailing_zeros
from lakestream.world.compiled.addresses import byte_at, word_at
from lakestream.world.compiled.compiling import apart, small
from lakestream.world.compiled.utf8 import character_end

_ONES, _HIGHS, _SPACES = 0x0101010101010101, 0x8080808080808080, 0x2020202020202020


@small
def _zero_bytes(word):
    return (word - np.uint64(_ONES)) & ~word & np.uint64(_HIGHS)


@small
def _special_bytes(word):
    """The highest bit of each byte that is a quote, a backslash, a control character, or not ASCII.

    Only the first mark is reliable: bytes behind it may be marked by mistake.
    """
    return (
        _zero_bytes(word ^ np.uint64(0x2222222222222222))
        | _zero_bytes(word ^ np.uint64(0x5C5C5C5C5C5C5C5C))
        | ((word - np.uint64(_SPACES)) & ~word & np.uint64(_HIGHS))
        | (word & np.uint64(_HIGHS))
    )


@small
def _short_word(at, count):
    """Less than eight bytes as a word, padded with spaces."""
    word = np.uint64(_SPACES) << np.uint64(8 * count)
    if count >= 4:
        word |= np.uint64(half_word_at(at)) | (np.uint64(half_word_at(at + count - 4)) << np.uint64(8 * count - 32))
    else:
        for k in range(count):
            word |= np.uint64(byte_at(at + k)) << np.uint64(8 * k)
    return word


@small
def plain_until(at, end):
    """The first byte that is special, or `end`."""
    while at + 8 <= end:
        special = _special_bytes(word_at(at))
        if special != np.uint64(0):
            return at + (trailing_zeros(special) >> 3)
        at += 8
    if at < end:
        special = _special_bytes(_short_word(at, end - at))
        return end if special == np.uint64(0) else at + (trailing_zeros(special) >> 3)
    return at


@small
def _hex_digit(byte):
    if 48 <= byte <= 57:
        return byte - 48
    lower = byte | 32
    if 97 <= lower <= 102:
        return lower - 87
    return -1


@small
def _hex4(at, end):
    """The number that four hexadecimal digits make; -1 if they do not stand here."""
    if at + 4 > end:
        return -1
    number = 0
    for k in range(4):
        digit = _hex_digit(byte_at(at + k))
        if digit < 0:
            return -1
        number = number * 16 + digit
    return number


HAS_ESCAPES, NOT_ASCII, HALF_SURROGATE = 1, 2, 4


@small
def _escape_end(at, end):
    """(position behind the escape whose backslash stands here, or -1; whether it is half a surrogate pair)"""
    if at + 1 >= end:
        return -1, False
    letter = byte_at(at + 1)
    if letter != 117:  # u
        known = letter == 34 or letter == 92 or letter == 47 or letter == 98
        known = known or letter == 102 or letter == 110 or letter == 114 or letter == 116
        return (at + 2 if known else -1), False
    unit = _hex4(at + 2, end)
    if unit < 0:
        return -1, False
    if unit < 0xD800 or unit > 0xDFFF:
        return at + 6, False
    if unit < 0xDC00 and at + 7 < end and byte_at(at + 6) == 92 and byte_at(at + 7) == 117:
        second = _hex4(at + 8, end)
        if 0xDC00 <= second <= 0xDFFF:
            return at + 12, False
    return at + 6, True


@apart
def _odd_string(at, end):
    """(fault, position, flags) of a string from its first byte that is not plain to its closing quote."""
    flags = 0
    while at < end:
        byte = byte_at(at)
        if byte == 34:
            return faults.OK, at, flags
        if byte < 32:
            return faults.CONTROL, at, flags
        if byte == 92:
            after, half = _escape_end(at, end)
            if after < 0:
                return faults.ESCAPE, at, flags
            flags |= HAS_ESCAPES
            if half:
                flags |= HALF_SURROGATE
        else:
            after = character_end(at, end)
            if after < 0:
                return faults.UTF8, at, flags
            flags |= NOT_ASCII
        at = plain_until(after, end)
    return faults.OPEN_STRING, at, flags


@small
def string_end(at, end):
    """(fault, position of the closing quote or of the fault, flags); `at`: behind the opening quote."""
    at = plain_until(at, end)
    if at < end and byte_at(at) == 34:
        return faults.OK, at, 0
    return _odd_string(at, end)


@small
def _put_character(to, code):
    """Write a character as UTF-8. Returns the position behind it."""
    if code < 0x80:
        put_byte(to, code)
        return to + 1
    if code < 0x800:
        put_byte(to, 0xC0 | (code >> 6))
        put_byte(to + 1, 0x80 | (code & 0x3F))
        return to + 2
    if code < 0x10000:
        put_byte(to, 0xE0 | (code >> 12))
        put_byte(to + 1, 0x80 | ((code >> 6) & 0x3F))
        put_byte(to + 2, 0x80 | (code & 0x3F))
        return to + 3
    put_byte(to, 0xF0 | (code >> 18))
    put_byte(to + 1, 0x80 | ((code >> 12) & 0x3F))
    put_byte(to + 2, 0x80 | ((code >> 6) & 0x3F))
    put_byte(to + 3, 0x80 | (code & 0x3F))
    return to + 4


@apart
def unescaped(at, end, to):
    """Write a proven string without its escapes. Returns its length, which is never more than with them."""
    start = to
    while at < end:
        byte = byte_at(at)
        if byte != 92:
            put_byte(to, byte)
            to += 1
            at += 1
            continue
        letter = byte_at(at + 1)
        if letter != 117:
            code = letter
            if letter == 98:
                code = 8
            elif letter == 102:
                code = 12
            elif letter == 110:
                code = 10
            elif letter == 114:
                code = 13
            elif letter == 116:
                code = 9
            at += 2
        else:
            code = _hex4(at + 2, end)
            at += 6
            if 0xD800 <= code < 0xDC00:
                code = 0x10000 + ((code - 0xD800) << 10) + (_hex4(at + 2, end) - 0xDC00)
                at += 6
        to = _put_character(to, code)
    return to - start
