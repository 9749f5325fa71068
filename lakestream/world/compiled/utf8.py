"""UTF-8 by address: finds the end of a multi-byte character, and checks whether all bytes are valid."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.world.compiled.addresses import byte_at, word_at
from lakestream.world.compiled.compiling import small

HIGH_BITS = np.uint64(0x8080808080808080)
"""The high bit of each of eight bytes, set if it is not ASCII."""


@small
def character_end(at, end):
    """The address after the multi-byte character that begins here; -1 if none does."""
    lead = byte_at(at)
    low = 0x80
    high = 0xBF
    if 0xC2 <= lead <= 0xDF:
        more = 1
    elif 0xE0 <= lead <= 0xEF:
        more = 2
        if lead == 0xE0:
            low = 0xA0  # shorter forms exist
        elif lead == 0xED:
            high = 0x9F  # surrogates
    elif 0xF0 <= lead <= 0xF4:
        more = 3
        if lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F  # beyond the last code point
    else:
        return -1
    if at + more >= end or byte_at(at + 1) < low or byte_at(at + 1) > high:
        return -1
    for k in range(2, more + 1):
        if byte_at(at + k) < 0x80 or byte_at(at + k) > 0xBF:
            return -1
    return at + more + 1


@small
def is_utf8(at, end):
    """Checks eight bytes at once if they are ASCII, else a character at a time. Long: for `apart` functions only."""
    while at < end:
        while end - at >= 8 and word_at(at) & HIGH_BITS == np.uint64(0):
            at += 8
        if at >= end:
            return True
        if byte_at(at) < 0x80:
            at += 1
            continue
        at = character_end(at, end)
        if at < 0:
            return False
    return True
