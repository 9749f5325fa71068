"""The compiled loops over JSON: decode_rows, gather, encode_rows.

    row  ->  walk down the tree of known shapes: compare the text up to each value, parse the value
         ->  where the tree ends, parse key by key, and note what a new shape would be
         ->  encode by the shape found, compare with the row: equal is exact

Columns are numbered as slots.py has them: those inside a struct have numbers of their own, and the text up to a value
may lead into an object and out of another. A list's elements lie in a pool that all lists share, one after another.

All kernels live in one file on purpose: Numba's cache watches only the file of the function that Python called.

Memory is reached by address, since values, columns and shapes lie in many buffers and Numba would compile anew for
every number of them. The callers keep the buffers alive. Numba checks no bounds, so this file does: nothing is read at
or behind the end of a row, and everything is written into room that was made for the worst case. No kernel allocates,
every kernel releases the GIL.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"
# What Numba compiles is typed by Numba; the faces of these kernels in the other files are typed for people.

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from lakestream.contract.codecs.json import faults, styles
from lakestream.contract.codecs.json.faults import NESTING_MAX
from lakestream.contract.codecs.json.styles import DECIMALS_MAX, FIXED, UNSTYLED

# What a column holds.
BOOLEAN, LONG, INT, DOUBLE, STRING, TEXT, NOTHING, STRUCT, LIST, REST = range(10)
"""TEXT: JSON of any kind. NOTHING: a kind of column that JSON does not fill. REST: members that have no column."""

# What a value is: bits, so that kinds of several rows can be merged.
IS_LONG, IS_DOUBLE, IS_BOOLEAN, IS_STRING, IS_OBJECT, IS_ARRAY = 1, 2, 4, 8, 16, 32
ELEMENTS = 8
"""So many bits above those of an array stand those of its elements."""

# Numbers that a decode carries on, in Work.state.
ARENA, STAMP, LEFT, TOKENS, UNKNOWN, UNKNOWN_NOW, OPENS, POOL, REST_START, REST_END = range(10)
STATES = 10

# In which object a key stands: the number of its struct, or one of these. Below them: an object without a column.
TOP, DONE = -1, -2
ELEMENT = -2
"""In the place of the struct that a list's element stands in: it has no key."""
STRUCT_DEPTH_MAX = 8
"""Objects within the outermost one whose keys are looked at to find columns for them."""

_DEEPER = -1
"""No fault: a slot of the shapes known so far stands here, but the value has slots of its own."""

# Where a row's walk ended, if not at the node of a shape.
NEW_SHAPE, NO_SHAPE = -1, -2

# Sizes of hash tables: powers of two, and twice of what they may hold.
LITERAL_SLOTS, EDGE_SLOTS, UNKNOWN_SLOTS = 1 << 13, 1 << 16, 1 << 15
UNKNOWN_TRIES_MAX = 128
"""Keys whose hashes were made to collide are not worth a longer search."""
UNKNOWN_MAX = UNKNOWN_SLOTS // 2
"""Different keys without a column of which one decode takes note, to see those that occur twice in a row."""

# How an encode failed, if not for want of room.
NO_ROOM, NOT_OF_SHAPE = -1, -2

NUMBER_BYTES_MAX = 48
INT64_MIN, INT32_MAX = -(2**63), 2**31 - 1
DOUBLE_WHOLE_MAX = 2**53
"""Whole numbers up to this one are doubles without error."""
DIGITS_EXACT = 15
DIGITS_EXACT_BELOW = 1e15
"""Decimals of 15 digits are told apart by doubles, and found again by rounding."""
_NEAR = 2.0**-50
"""More than a product of doubles can be off."""
SHORT_FROM = 1e-4
"""No style writes numbers from here to 10**15 with an exponent."""
_MASK63 = 2**63 - 1
_SCALE_FIRST, _SCALE_LAST = -324, 292
_ESCAPED_BYTES_MAX = 6
"""A character as \\u00xx. One of several bytes takes less for each."""
_ONES, _HIGHS, _SPACES = 0x0101010101010101, 0x8080808080808080, 0x2020202020202020


def _scale(power: int) -> tuple[int, int]:
    """10**-power as a number of 126 bits, rounded up, in two halves."""
    numerator, denominator = (10**-power, 1) if power <= 0 else (1, 10**power)
    shift = 126 - (numerator.bit_length() - denominator.bit_length())
    scaled = (numerator << shift) // denominator if shift >= 0 else numerator // (denominator << -shift)
    while scaled >= 1 << 126:
        shift -= 1
        scaled = (numerator << shift) // denominator if shift >= 0 else numerator // (denominator << -shift)
    return (scaled + 1) >> 63, (scaled + 1) & _MASK63


_POWERS = np.array([10.0**power for power in range(DECIMALS_MAX + 1)])
_SCALES = np.array([part for power in range(_SCALE_FIRST, _SCALE_LAST + 1) for part in _scale(power)], np.uint64)
_WHOLE_POWERS = np.array([10**power for power in range(20)], np.uint64)
_PAIRS = np.frombuffer("".join(f"{pair:02}" for pair in range(100)).encode(), dtype="<u2")
_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
_SHORT_ESCAPES = np.frombuffer(b"\0\0\0\0\0\0\0\0btn\0fr" + bytes(18), dtype=np.uint8)
"""The letter of a control character that has one."""


class Source(NamedTuple):
    """Values as Arrow has them."""

    address: int
    offsets: Any


class Fields(NamedTuple):
    """Columns. Addresses of arrays of 64 bits, which have a place for each column; these hold addresses themselves.

    Strings are given by the addresses and lengths of their bytes, wherever those lie.
    """

    columns: int
    kind: int
    values: int
    lengths: int
    valid: int
    """0: nothing is null."""
    first_bit: int
    """Of row 0, in the bitmaps: slices of Arrow arrays start anywhere."""
    parent: int
    """Number of the struct that a column is in, or TOP, or ELEMENT."""
    depth: int
    """How many structs it is in."""
    element: int
    """Lists: number of the column that their elements are."""
    rest: int
    """Number of the column that takes what has none, itself; -1: there is no such column."""


class Keys(NamedTuple):
    """Hash table from keys to columns, by addresses of arrays. A slot (32 bits) holds the number of a key, or -1."""

    slots: int
    slot_count: int
    context: int
    address: int
    length: int
    column: int


class Tree(NamedTuple):
    """The known shapes, as arrays or by the addresses of those; see tree.py. Of literals 64 bits, else 32."""

    literal_context: Any
    literal_address: Any
    literal_length: Any
    literal_column: Any
    literal_slots: Any
    edge_slots: Any
    node_parent: Any
    node_literal: Any
    node_style: Any
    node_shape: Any
    node_last: Any
    shape_first: Any
    token_literal: Any
    token_style: Any
    token_column: Any
    literal_opens: Any
    opened: Any
    """Structs that begin within a literal: from `literal_opens` of it to that of the next."""
    shape_opens: Any
    shape_opened: Any
    """The same for whole shapes."""


class Work(NamedTuple):
    """What a decode writes besides columns."""

    arena: int
    """Room for strings without their escapes: as much as all rows have bytes."""
    rest_arena: int
    """As much for what has no column."""
    scratch: int
    scratch_end: int
    state: Any
    hint: int
    """Address. By column: the style of the value before. Nulls are written in any style, so they take on this one."""
    seen: Any
    token_at: Any
    token_length: Any
    token_style: Any
    token_column: Any
    open_at: Any
    open_column: Any
    unknown_slots: int
    unknown_context: int
    unknown_address: int
    unknown_length: int
    """Addresses, as those of keys."""
    unknown_kinds: Any
    unknown_depth: Any
    unknown_count: Any
    unknown_seen: Any
    unknown_now: Any
    unknown_now_kind: Any
    shape: Any
    exact: Any
    fault: Any
    fault_at: Any
    fault_column: Any


_kernel = njit(cache=True, nogil=True, _nrt=False)
_small = njit(nogil=True, _nrt=False, forceinline=True)
_apart = njit(nogil=True, _nrt=False)
"""For what is rare or long: inlined, it would only push the rest out of the registers."""


# --- memory ------------------------------------------------------------------------------------


def _reading(stored: Any, result: Any, widen: str = "") -> Any:
    @intrinsic
    def read(typingctx: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], stored.as_pointer())
            value = builder.load(pointer, align=1)
            return getattr(builder, widen)(value, ir.IntType(64)) if widen else value

        return result(types.int64), generate

    return read


def _writing(stored: Any, given: Any, narrow: bool = False) -> Any:
    @intrinsic
    def write(typingctx: Any, address: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], stored.as_pointer())
            value = builder.trunc(arguments[1], stored) if narrow else arguments[1]
            builder.store(value, pointer, align=1)
            return context.get_dummy_value()

        return types.void(types.int64, given), generate

    return write


_byte = _reading(ir.IntType(8), types.int64, "zext")
_int32 = _reading(ir.IntType(32), types.int64, "sext")
_int64 = _reading(ir.IntType(64), types.int64)
_word = _reading(ir.IntType(64), types.uint64)
_half_word = _reading(ir.IntType(32), types.int64, "zext")
_double = _reading(ir.DoubleType(), types.float64)
_put_byte = _writing(ir.IntType(8), types.int64, narrow=True)
_put_int16 = _writing(ir.IntType(16), types.int64, narrow=True)
_put_int32 = _writing(ir.IntType(32), types.int64, narrow=True)
_put_int64 = _writing(ir.IntType(64), types.int64)
_put_word = _writing(ir.IntType(64), types.uint64)
_put_double = _writing(ir.DoubleType(), types.float64)


@_small
def _at32(array, index):
    """An array by its address: Numba would look for negative indexes first."""
    return _int32(array + 4 * index)


@_small
def _at64(array, index):
    return _int64(array + 8 * index)


@intrinsic
def _copy(typingctx: Any, to: Any, source: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, source, count = arguments
        pointer = ir.IntType(8).as_pointer()
        cgutils.raw_memcpy(builder, builder.inttoptr(to, pointer), builder.inttoptr(source, pointer), count, 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def _trailing_zeros(typingctx: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def _leading_zeros(typingctx: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


_strtod = types.ExternalFunction("strtod", types.float64(types.int64, types.int64))
"""Rounds as IEEE 754 wants. Only for numbers that are too long for exact arithmetic."""


@intrinsic
def _high_product(typingctx: Any, one: Any, other: Any) -> Any:
    """The upper half of a product of two words."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@_small
def _move(to, source, count):
    """Copy; most texts are short, and a call would take longer than the bytes."""
    if count > 32:
        _copy(to, source, count)
    elif count >= 8:
        at = 0
        while at + 8 <= count:
            _put_word(to + at, _word(source + at))
            at += 8
        _put_word(to + count - 8, _word(source + count - 8))
    elif count >= 4:
        last = _half_word(source + count - 4)
        _put_int32(to, _half_word(source))
        _put_int32(to + count - 4, last)
    else:
        for k in range(count):
            _put_byte(to + k, _byte(source + k))


@_small
def _same(one, other, count):
    if count >= 8:
        at = 0
        while at + 8 <= count:
            if _word(one + at) != _word(other + at):
                return False
            at += 8
        return _word(one + count - 8) == _word(other + count - 8)
    if count >= 4:
        return _half_word(one) == _half_word(other) and _half_word(one + count - 4) == _half_word(other + count - 4)
    for k in range(count):  # noqa: SIM110  # no generators in Numba
        if _byte(one + k) != _byte(other + k):
            return False
    return True


@_kernel
def text_hash(context, address, length):
    hashed = np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(length)
    hashed ^= np.uint64(context + 1) * np.uint64(0xD6E8FEB86659FD93)
    for k in range(length):
        hashed = (hashed ^ np.uint64(_byte(address + k))) * np.uint64(0x100000001B3)
    return np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@_kernel
def edge_hash(node, literal, style):
    hashed = np.uint64(node) * np.uint64(0x9E3779B97F4A7C15)
    hashed = (hashed ^ np.uint64(literal)) * np.uint64(0xC2B2AE3D27D4EB4F)
    hashed = (hashed ^ np.uint64(style)) * np.uint64(0x165667B19E3779F9)
    return np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


# --- strings -----------------------------------------------------------------------------------


@_small
def _zero_bytes(word):
    return (word - np.uint64(_ONES)) & ~word & np.uint64(_HIGHS)


@_small
def _special_bytes(word):
    """The highest bit of each byte that is a quote, a backslash, a control character, or not ASCII.

    Behind the first such byte others may be marked by mistake.
    """
    return (
        _zero_bytes(word ^ np.uint64(0x2222222222222222))
        | _zero_bytes(word ^ np.uint64(0x5C5C5C5C5C5C5C5C))
        | ((word - np.uint64(_SPACES)) & ~word & np.uint64(_HIGHS))
        | (word & np.uint64(_HIGHS))
    )


@_small
def _short_word(at, count):
    """Less than eight bytes, with spaces behind them."""
    word = np.uint64(_SPACES) << np.uint64(8 * count)
    if count >= 4:
        word |= np.uint64(_half_word(at)) | (np.uint64(_half_word(at + count - 4)) << np.uint64(8 * count - 32))
    else:
        for k in range(count):
            word |= np.uint64(_byte(at + k)) << np.uint64(8 * k)
    return word


@_small
def _plain_until(at, end):
    """The first byte that is special, or `end`."""
    while at + 8 <= end:
        special = _special_bytes(_word(at))
        if special != np.uint64(0):
            return at + (_trailing_zeros(special) >> 3)
        at += 8
    if at < end:
        special = _special_bytes(_short_word(at, end - at))
        return end if special == np.uint64(0) else at + (_trailing_zeros(special) >> 3)
    return at


@_apart
def _utf8_end(at, end):
    """Behind the character of several bytes that begins here; -1 if none does."""
    lead = _byte(at)
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
    if at + more >= end or _byte(at + 1) < low or _byte(at + 1) > high:
        return -1
    for k in range(2, more + 1):
        if _byte(at + k) < 0x80 or _byte(at + k) > 0xBF:
            return -1
    return at + more + 1


@_small
def _hex_digit(byte):
    if 48 <= byte <= 57:
        return byte - 48
    lower = byte | 32
    if 97 <= lower <= 102:
        return lower - 87
    return -1


@_apart
def _hex4(at, end):
    """The number that four hexadecimal digits make; -1 if they do not stand here."""
    if at + 4 > end:
        return -1
    number = 0
    for k in range(4):
        digit = _hex_digit(_byte(at + k))
        if digit < 0:
            return -1
        number = number * 16 + digit
    return number


HAS_ESCAPES, NOT_ASCII, HALF_SURROGATE = 1, 2, 4


@_apart
def _escape_end(at, end):
    """(behind the escape whose backslash stands here, or -1; whether it is half a surrogate pair)"""
    if at + 1 >= end:
        return -1, False
    letter = _byte(at + 1)
    if letter != 117:  # u
        known = letter == 34 or letter == 92 or letter == 47 or letter == 98
        known = known or letter == 102 or letter == 110 or letter == 114 or letter == 116
        return (at + 2 if known else -1), False
    unit = _hex4(at + 2, end)
    if unit < 0:
        return -1, False
    if unit < 0xD800 or unit > 0xDFFF:
        return at + 6, False
    if unit < 0xDC00 and at + 7 < end and _byte(at + 6) == 92 and _byte(at + 7) == 117:
        second = _hex4(at + 8, end)
        if 0xDC00 <= second <= 0xDFFF:
            return at + 12, False
    return at + 6, True


@_apart
def _odd_string(at, end):
    """(fault, position, flags) of a string from its first byte that is not plain to its closing quote."""
    flags = 0
    while at < end:
        byte = _byte(at)
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
            after = _utf8_end(at, end)
            if after < 0:
                return faults.UTF8, at, flags
            flags |= NOT_ASCII
        at = _plain_until(after, end)
    return faults.OPEN_STRING, at, flags


@_small
def _string(at, end):
    """(fault, position of the closing quote or of the fault, flags); `at`: behind the opening quote."""
    at = _plain_until(at, end)
    if at < end and _byte(at) == 34:
        return faults.OK, at, 0
    return _odd_string(at, end)


@_apart
def _put_character(to, code):
    """As UTF-8; behind it."""
    if code < 0x80:
        _put_byte(to, code)
        return to + 1
    if code < 0x800:
        _put_byte(to, 0xC0 | (code >> 6))
        _put_byte(to + 1, 0x80 | (code & 0x3F))
        return to + 2
    if code < 0x10000:
        _put_byte(to, 0xE0 | (code >> 12))
        _put_byte(to + 1, 0x80 | ((code >> 6) & 0x3F))
        _put_byte(to + 2, 0x80 | (code & 0x3F))
        return to + 3
    _put_byte(to, 0xF0 | (code >> 18))
    _put_byte(to + 1, 0x80 | ((code >> 12) & 0x3F))
    _put_byte(to + 2, 0x80 | ((code >> 6) & 0x3F))
    _put_byte(to + 3, 0x80 | (code & 0x3F))
    return to + 4


@_apart
def _unescaped(at, end, to):
    """Write a proven string without its escapes: how many bytes, never more than with them."""
    start = to
    while at < end:
        byte = _byte(at)
        if byte != 92:
            _put_byte(to, byte)
            to += 1
            at += 1
            continue
        letter = _byte(at + 1)
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


@_small
def _put_hex_escape(to, unit):
    _put_byte(to, 92)
    _put_byte(to + 1, 117)
    for k in range(4):
        _put_byte(to + 2 + k, np.int64(_HEX[(unit >> (12 - 4 * k)) & 15]))
    return to + 6


@_apart
def _put_escaped_character(to, at):
    """A character of several bytes as \\uxxxx: (behind what was written, behind the character)"""
    lead = _byte(at)
    if lead < 0xE0:
        return _put_hex_escape(to, ((lead & 0x1F) << 6) | (_byte(at + 1) & 0x3F)), at + 2
    if lead < 0xF0:
        code = ((lead & 0x0F) << 12) | ((_byte(at + 1) & 0x3F) << 6) | (_byte(at + 2) & 0x3F)
        return _put_hex_escape(to, code), at + 3
    code = (
        ((lead & 0x07) << 18) | ((_byte(at + 1) & 0x3F) << 12) | ((_byte(at + 2) & 0x3F) << 6) | (_byte(at + 3) & 0x3F)
    )
    to = _put_hex_escape(to, 0xD800 + ((code - 0x10000) >> 10))
    return _put_hex_escape(to, 0xDC00 + ((code - 0x10000) & 0x3FF)), at + 4


@_small
def _is_html(byte, style):
    """Whether the style escapes an ASCII character because HTML or JavaScript would take it for their own."""
    if style < styles.HTML:
        return False
    if style == styles.HTML_QUOTED and (byte == 61 or byte == 39):
        return True
    return byte == 60 or byte == 62 or byte == 38


@_small
def _is_line_separator(at, end):
    """U+2028 and U+2029, which JavaScript took for ends of lines."""
    return at + 2 < end and _byte(at) == 0xE2 and _byte(at + 1) == 0x80 and (_byte(at + 2) | 1) == 0xA9


@_apart
def _put_odd_text(to, at, end, style):
    """The rest of a text from its first byte that is not plain."""
    while at < end:
        byte = _byte(at)
        if byte >= 128:
            if style == styles.ASCII or (style >= styles.HTML and _is_line_separator(at, end)):
                to, at = _put_escaped_character(to, at)
            else:
                _put_byte(to, byte)
                to += 1
                at += 1
        elif byte == 34 or byte == 92:
            _put_byte(to, 92)
            _put_byte(to + 1, byte)
            to += 2
            at += 1
        elif byte < 32:
            if _SHORT_ESCAPES[byte] != 0:
                _put_byte(to, 92)
                _put_byte(to + 1, np.int64(_SHORT_ESCAPES[byte]))
                to += 2
            else:
                to = _put_hex_escape(to, byte)
            at += 1
        elif (byte == 127 and style == styles.ASCII) or _is_html(byte, style):
            to = _put_hex_escape(to, byte)
            at += 1
        else:
            _put_byte(to, byte)
            to += 1
            at += 1
    return to


@_apart
def _plain_in_style(at, end, style):
    """The first of plain bytes that this style escapes all the same, or `end`."""
    while at < end and not (_byte(at) == 127 and style == styles.ASCII) and not _is_html(_byte(at), style):
        at += 1
    return at


@_small
def _put_string(to, at, length, style):
    """With its quotes. Needs room for six times its bytes."""
    _put_byte(to, 34)
    to += 1
    end = at + length
    odd = _plain_until(at, end)
    if style != styles.PLAIN:
        odd = _plain_in_style(at, odd, style)
    _move(to, at, odd - at)
    to += odd - at
    if odd < end:
        to = _put_odd_text(to, odd, end, style)
    _put_byte(to, 34)
    return to + 1


# --- numbers -----------------------------------------------------------------------------------


@_small
def _number(at, end):
    """(fault, behind it, digits as one number, how many of them count, decimals or -1, last is 0, has an exponent)"""
    start = at
    if _byte(at) == 45:
        at += 1
    digits = np.int64(0)
    count = 0
    decimals = -1
    if at >= end:
        return faults.NUMBER, start, digits, count, decimals, False, False
    if _byte(at) == 48:
        at += 1
        if at < end and 48 <= _byte(at) <= 57:
            return faults.LEADING_ZERO, start, digits, count, decimals, False, False
    else:
        first = at
        while at < end:
            digit = _byte(at) - 48
            if digit < 0 or digit > 9:
                break
            digits = digits * 10 + digit
            at += 1
        count = at - first
        if count == 0:
            return faults.NUMBER, start, digits, count, decimals, False, False
    if at < end and _byte(at) == 46:
        at += 1
        first = at
        while at < end:
            digit = _byte(at) - 48
            if digit < 0 or digit > 9:
                break
            digits = digits * 10 + digit
            if count > 0 or digit > 0:
                count += 1
            at += 1
        decimals = at - first
        if decimals == 0:
            return faults.NUMBER, start, digits, count, decimals, False, False
    last_is_zero = _byte(at - 1) == 48
    if at < end and (_byte(at) | 32) == 101:
        at += 1
        if at < end and (_byte(at) == 43 or _byte(at) == 45):
            at += 1
        first = at
        while at < end and 48 <= _byte(at) <= 57:
            at += 1
        if at == first:
            return faults.NUMBER, start, digits, count, decimals, False, False
        return faults.OK, at, digits, count, decimals, last_is_zero, True
    return faults.OK, at, digits, count, decimals, last_is_zero, False


@_apart
def _long_number(at, end, scratch):
    """The double nearest to a proven number, whatever its length."""
    _move(scratch, at, end - at)
    _put_byte(scratch + end - at, 0)
    return _strtod(scratch, np.int64(0))


@_small
def _double_style_fits(style, decimals, last_is_zero):
    if style == styles.SHORT:
        return decimals < 0 or not last_is_zero
    if style == styles.SHORT_WITH_POINT:
        return decimals == 1 or (decimals > 1 and not last_is_zero)
    return decimals > 0 and style == FIXED + decimals


@_small
def _double_style(hint, decimals, last_is_zero):
    """As in the row before if that fits: 1.25 and 1.50 are then both of two decimals."""
    if _double_style_fits(hint, decimals, last_is_zero):
        return hint
    if decimals < 0:
        return styles.SHORT
    if decimals == 1 or not last_is_zero:
        return styles.SHORT_WITH_POINT
    return FIXED + decimals if decimals <= DECIMALS_MAX else UNSTYLED


@_small
def _put_digits(to, number, least):
    """A number from 0 to 2**63, with zeros in front up to `least` digits; behind it."""
    rest = np.uint64(number)
    count = ((64 - _leading_zeros(rest | np.uint64(1))) * 1233) >> 12  # bits to digits: log10(2) is 1233 / 4096
    if rest >= _WHOLE_POWERS[count]:
        count += 1
    count = max(count, least)
    at = to + count
    while rest >= np.uint64(100):
        quotient = rest // np.uint64(100)
        pair = rest - quotient * np.uint64(100)
        rest = quotient
        at -= 2
        _put_int16(at, np.int64(_PAIRS[pair]))
    while at > to:
        quotient = rest // np.uint64(10)
        at -= 1
        _put_byte(at, 48 + np.int64(rest - quotient * np.uint64(10)))
        rest = quotient
    return to + count


@_small
def _put_whole(to, number):
    if number < 0:
        _put_byte(to, 45)
        return _put_digits(to + 1, np.uint64(-(number + 1)) + np.uint64(1), 1)
    return _put_digits(to, np.uint64(number), 1)


@_small
def _put_decimal(to, digits, decimals):
    """`digits` with a point before the last `decimals` of them."""
    end = _put_digits(to, np.uint64(digits), decimals + 1)
    if decimals == 0:
        return end
    for k in range(decimals):
        _put_byte(end - k, _byte(end - k - 1))
    _put_byte(end - decimals, 46)
    return end + 1


@_apart
def _rounded_product(g1, g0, cp):
    high = _high_product(g0, cp)
    low = g1 * cp
    middle = (low >> np.uint64(1)) + high
    above = _high_product(g1, cp) + (middle >> np.uint64(63))
    return above | (((middle & np.uint64(_MASK63)) + np.uint64(_MASK63)) >> np.uint64(63))


@_apart
def _shortest(bits):
    """(digits, power of ten) of the shortest decimal that is nearest to no other double than this one.

    Schubfach, by Raffaello Giulietti: "The Schubfach way to render doubles". `bits`: of a positive, finite double.
    """
    fraction = bits & 0xFFFFFFFFFFFFF
    exponent = bits >> 52
    c = fraction | (0 if exponent == 0 else 1 << 52)
    q = max(exponent, 1) - 1075
    odd = np.uint64(c & 1)
    regular = fraction != 0 or exponent <= 1
    k = (q * 661971961083) >> 41 if regular else (q * 661971961083 - 274743187321) >> 41
    h = np.uint64(q + ((-k * 913124641741) >> 38) + 2)
    g1 = _SCALES[2 * (k - _SCALE_FIRST)]
    g0 = _SCALES[2 * (k - _SCALE_FIRST) + 1]
    cb = np.uint64(c << 2)
    value = _rounded_product(g1, g0, cb << h)
    left = _rounded_product(g1, g0, (cb - np.uint64(2 if regular else 1)) << h) + odd
    right = _rounded_product(g1, g0, (cb + np.uint64(2)) << h)
    s = value >> np.uint64(2)
    if s >= np.uint64(100):
        lower = np.uint64(10) * (s // np.uint64(10))
        upper = lower + np.uint64(10)
        lower_in = left <= (lower << np.uint64(2))
        if lower_in != ((upper << np.uint64(2)) + odd <= right):
            return np.int64(lower if lower_in else upper), k
    following = s + np.uint64(1)
    s_in = left <= (s << np.uint64(2))
    if s_in != ((following << np.uint64(2)) + odd <= right):
        return np.int64(s if s_in else following), k
    middle = (s + following) << np.uint64(1)
    if value < middle or (value == middle and s & np.uint64(1) == np.uint64(0)):
        return np.int64(s), k
    return np.int64(following), k


@_apart
def _put_with_exponent(to, digits, exponent, style):
    """1.5e-07 in Python's way, 1.5e-7 in JavaScript's. `exponent`: of the first digit."""
    end = _put_digits(to + 1, np.uint64(digits), 1)
    _put_byte(to, _byte(to + 1))
    if end == to + 2:
        end = to + 1
    else:
        _put_byte(to + 1, 46)
    _put_byte(end, 101)
    _put_byte(end + 1, 45 if exponent < 0 else 43)
    return _put_digits(end + 2, np.uint64(abs(exponent)), 2 if style == styles.SHORT_WITH_POINT else 1)


@_apart
def _put_long_number(to, number, address, style):
    """Beyond 15 digits, or very large, or very small; `number`: the double at `address` without its sign."""
    digits, power = _shortest(_int64(address) & 0x7FFFFFFFFFFFFFFF)
    while digits % 10 == 0:
        digits //= 10
        power += 1
    count = _put_digits(to, np.uint64(digits), 1) - to
    point = count + power
    first, last = (-4, 16) if style == styles.SHORT_WITH_POINT else (-6, 21)
    if point <= first or point > last:
        return _put_with_exponent(to, digits, point - 1, style)
    if power < 0:
        return _put_decimal(to, digits, -power)
    to += count
    for _ in range(power):
        _put_byte(to, 48)
        to += 1
    if style == styles.SHORT_WITH_POINT:
        _put_byte(to, 46)
        _put_byte(to + 1, 48)
        to += 2
    return to


@_small
def _put_number(to, address, style):
    """The double that is stored at `address`; behind it, or NOT_OF_SHAPE where the style cannot write it."""
    number = abs(_double(address))
    if _int64(address) < 0:
        _put_byte(to, 45)
        to += 1
    if style > FIXED:
        scaled = number * _POWERS[style - FIXED]
        if not scaled < DIGITS_EXACT_BELOW or np.rint(scaled) / _POWERS[style - FIXED] != number:
            return NOT_OF_SHAPE
        return _put_decimal(to, np.int64(np.rint(scaled)), style - FIXED)
    if number >= SHORT_FROM or number == 0:
        decimals = 0
        while decimals <= DECIMALS_MAX:
            scaled = number * _POWERS[decimals]
            if not scaled < DIGITS_EXACT_BELOW:
                break
            digits = np.rint(scaled)
            near = abs(scaled - digits) <= scaled * _NEAR  # saves divisions
            if near and digits / _POWERS[decimals] == number:
                if decimals == 0 and style == styles.SHORT_WITH_POINT:
                    to = _put_digits(to, np.uint64(digits), 1)
                    _put_byte(to, 46)
                    _put_byte(to + 1, 48)
                    return to + 2
                return _put_decimal(to, np.int64(digits), decimals)
            decimals += 1
    if not np.isfinite(number):
        return NOT_OF_SHAPE
    return _put_long_number(to, number, address, style)


# --- structure ---------------------------------------------------------------------------------


@_small
def _behind_space(at, end):
    while at < end:
        byte = _byte(at)
        if byte > 32 or not (byte == 32 or byte == 10 or byte == 13 or byte == 9):
            return at
        at += 1
    return at


@_small
def _is_word(at, end, length, first_four):
    """Whether true, null or (f)alse stands here; `first_four`: its letters as a little-endian number."""
    return at + length <= end and _half_word(at + length - 4) == first_four


_TRUE, _NULL, _ALSE = 0x65757274, 0x6C6C756E, 0x65736C61


@_apart
def _scalar_end(at, end):
    """(fault, position) behind a string, a number or a word of a nested value."""
    byte = _byte(at)
    if byte == 34:
        fault, at, _ = _string(at + 1, end)
        return fault, (at + 1 if fault == faults.OK else at)
    if byte == 45 or 48 <= byte <= 57:
        fault, at, _, _, _, _, _ = _number(at, end)
        return fault, at
    if byte == 116 or byte == 110:
        ok = _is_word(at, end, 4, _TRUE if byte == 116 else _NULL)
        return (faults.OK, at + 4) if ok else (faults.LITERAL, at)
    if byte == 102:
        ok = _is_word(at, end, 5, _ALSE)
        return (faults.OK, at + 5) if ok else (faults.LITERAL, at)
    if (byte | 32) >= 97 and (byte | 32) <= 122:
        return faults.LITERAL, at
    return faults.NO_VALUE, at


@_apart
def _key_end(at, end):
    """(fault, position) behind a nested object's key and its colon, up to the value."""
    if at >= end:
        return faults.CUT_OFF, at
    if _byte(at) != 34:
        return faults.NO_KEY, at
    fault, at, _ = _string(at + 1, end)
    if fault != faults.OK:
        return fault, at
    at = _behind_space(at + 1, end)
    if at >= end:
        return faults.CUT_OFF, at
    if _byte(at) != 58:
        return faults.NO_COLON, at
    return faults.OK, _behind_space(at + 1, end)


@_apart
def _nested_end(at, end):
    """(fault, position) behind the object or array that begins here. Levels are bits: 1 for an object."""
    levels = np.uint64(0)
    depth = 0
    while True:
        # a value is due
        if at >= end:
            return faults.CUT_OFF, at
        byte = _byte(at)
        opened = byte == 123 or byte == 91
        if opened:
            if depth == NESTING_MAX:
                return faults.TOO_DEEP, at
            is_object = byte == 123
            levels = (levels << np.uint64(1)) | np.uint64(1 if is_object else 0)
            depth += 1
            at = _behind_space(at + 1, end)
            if at >= end:
                return faults.CUT_OFF, at
            if _byte(at) != (125 if is_object else 93):
                if is_object:
                    fault, at = _key_end(at, end)
                    if fault != faults.OK:
                        return fault, at
                continue
        else:
            fault, at = _scalar_end(at, end)
            if fault != faults.OK:
                return fault, at
        # a value is done: close levels, or go on to the next value
        while True:
            at = _behind_space(at, end)
            if at >= end:
                return faults.CUT_OFF, at
            byte = _byte(at)
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
            at = _behind_space(at + 1, end)
            if in_object:
                fault, at = _key_end(at, end)
                if fault != faults.OK:
                    return fault, at
            break


# --- values to columns -------------------------------------------------------------------------


@_small
def _set_bit(bitmap, bit):
    at = bitmap + (bit >> 3)
    _put_byte(at, _byte(at) | (1 << (bit & 7)))


@_small
def _has_bit(bitmap, bit):
    return bitmap == 0 or (_byte(bitmap + (bit >> 3)) >> (bit & 7)) & 1 != 0


@_small
def _store_text(fields, work, column, row, address, length, style):
    _put_int64(_at64(fields.values, column) + 8 * row, address)
    _put_int32(_at64(fields.lengths, column) + 4 * row, length)
    _set_bit(_at64(fields.valid, column), row)
    if style != UNSTYLED:
        _put_int64(work.hint + 8 * column, style)


@_small
def _holds_raw(kind, declared):
    """A string column without a schema takes other values as their JSON."""
    return kind == TEXT or (kind == STRING and not declared)


@_apart
def _escaped_style(hint, quote, after, text, length, scratch):
    """The style that gives the string from its quote on, escapes and all."""
    for style in (hint, styles.PLAIN, styles.ASCII, styles.HTML, styles.HTML_QUOTED):
        if style >= styles.PLAIN:
            behind = _put_string(scratch, text, length, style)
            if behind - scratch == after - quote and _same(scratch, quote, after - quote):
                return style
    return UNSTYLED


@_small
def _string_value(at, end, row, column, kind, declared, fields, work):
    """(fault, position, style, kind of value)"""
    fault, quote, flags = _string(at + 1, end)
    if fault != faults.OK:
        return fault, quote, UNSTYLED, 0
    after = quote + 1
    if kind == TEXT:
        _store_text(fields, work, column, row, at, after - at, styles.RAW)
        return faults.OK, after, styles.RAW, IS_STRING
    if kind != STRING:
        if kind == REST:
            return _DEEPER, at, UNSTYLED, 0
        return (faults.MISFIT if declared and kind != NOTHING else faults.OK), after, UNSTYLED, IS_STRING
    if flags & HALF_SURROGATE:
        return (faults.SURROGATE if declared else faults.OK), after, UNSTYLED, IS_STRING
    if flags & HAS_ESCAPES:
        text = work.arena + work.state[ARENA]
        length = _unescaped(at + 1, quote, text)
        work.state[ARENA] += length
        style = _escaped_style(_at64(work.hint, column), at, after, text, length, work.scratch)
        _store_text(fields, work, column, row, text, length, style)
        return faults.OK, after, style, IS_STRING
    style = styles.PLAIN
    hint = _at64(work.hint, column)
    if hint > styles.PLAIN and flags == 0 and _plain_in_style(at + 1, quote, hint) == quote:
        style = hint
    _store_text(fields, work, column, row, at + 1, quote - at - 1, style)
    return faults.OK, after, style, IS_STRING


@_apart
def _style_by_trial(hint, decimals, at, end, number, scratch):
    """The style that gives these digits, or UNSTYLED."""
    _put_double(scratch, number)
    text = scratch + 8
    fixed = FIXED + decimals if 0 < decimals <= DECIMALS_MAX else styles.SHORT
    for style in (hint, styles.SHORT_WITH_POINT, styles.SHORT, fixed):
        behind = _put_number(text, scratch, style)
        if behind - text == end - at and _same(text, at, end - at):
            return style
    return UNSTYLED


@_small
def _fits_long(digits, count, decimals, exponent, negative):
    whole = decimals < 0 and not exponent
    return whole and (count < 19 or (count == 19 and (digits >= 0 or (negative and digits == INT64_MIN))))


@_small
def _number_value(at, end, row, column, kind, declared, fields, work):
    fault, after, digits, count, decimals, last_is_zero, exponent = _number(at, end)
    if fault != faults.OK:
        return fault, after, UNSTYLED, 0
    negative = _byte(at) == 45
    whole = decimals < 0 and not exponent
    fits_long = _fits_long(digits, count, decimals, exponent, negative)
    value_kind = IS_LONG if fits_long else IS_DOUBLE
    if kind in (LONG, INT):
        number = -digits if negative else digits
        if fits_long and (kind == LONG or -INT32_MAX - 1 <= number <= INT32_MAX):
            if kind == LONG:
                _put_int64(_at64(fields.values, column) + 8 * row, number)
            else:
                _put_int32(_at64(fields.values, column) + 4 * row, number)
            _set_bit(_at64(fields.valid, column), row)
            return faults.OK, after, (UNSTYLED if negative and digits == 0 else styles.WHOLE), value_kind
        if not declared:
            return faults.OK, after, UNSTYLED, value_kind
        return (faults.TOO_LARGE if whole else faults.MISFIT), after, UNSTYLED, value_kind
    if kind == DOUBLE:
        if not exponent and count <= 16 and digits <= DOUBLE_WHOLE_MAX and decimals <= DECIMALS_MAX:
            number_double = np.float64(digits) / _POWERS[max(decimals, 0)]
            if negative:
                number_double = -number_double
        else:
            number_double = _long_number(at, after, work.scratch)
            if np.isinf(number_double):
                return (faults.TOO_LARGE if declared else faults.OK), after, UNSTYLED, value_kind
        if not exponent and count <= DIGITS_EXACT and (digits == 0 or abs(number_double) >= SHORT_FROM):
            style = _double_style(_at64(work.hint, column), decimals, last_is_zero)
        else:
            style = _style_by_trial(_at64(work.hint, column), decimals, at, after, number_double, work.scratch)
        if style != UNSTYLED:
            _put_int64(work.hint + 8 * column, style)
        _put_double(_at64(fields.values, column) + 8 * row, number_double)
        _set_bit(_at64(fields.valid, column), row)
        return faults.OK, after, style, value_kind
    if _holds_raw(kind, declared):
        _store_text(fields, work, column, row, at, after - at, styles.RAW)
        return faults.OK, after, styles.RAW, value_kind
    return (faults.MISFIT if declared and kind != NOTHING else faults.OK), after, UNSTYLED, value_kind


@_small
def _word_value(at, end, row, column, kind, declared, fields, work):
    """true or false"""
    true = _byte(at) == 116
    ok = _is_word(at, end, 4, _TRUE) if true else _is_word(at, end, 5, _ALSE)
    if not ok:
        return faults.LITERAL, at, UNSTYLED, 0
    after = at + (4 if true else 5)
    if kind == BOOLEAN:
        if true:
            _set_bit(_at64(fields.values, column), row)
        _set_bit(_at64(fields.valid, column), row)
        return faults.OK, after, styles.BOOLEAN, IS_BOOLEAN
    if _holds_raw(kind, declared):
        _store_text(fields, work, column, row, at, after - at, styles.RAW)
        return faults.OK, after, styles.RAW, IS_BOOLEAN
    return (faults.MISFIT if declared and kind != NOTHING else faults.OK), after, UNSTYLED, IS_BOOLEAN


@_small
def _is_misfit(fault):
    """Whether the value is to blame, not what follows."""
    return fault == faults.MISFIT or fault == faults.TOO_LARGE or fault == faults.SURROGATE


@_apart
def _element_value(at, end, row, column, declared, fields, work):
    """As `_value`, of a list's element: one that has parts does not fit."""
    kind = _at64(fields.kind, column)
    byte = _byte(at)
    if byte == 34:
        fault, after, style, value_kind = _string_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 45 or 48 <= byte <= 57:
        fault, after, style, value_kind = _number_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 116 or byte == 102:
        fault, after, style, value_kind = _word_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 123 or byte == 91:
        fault, after = _nested_end(at, end)
        if fault == faults.OK and declared:
            fault = faults.MISFIT
        style, value_kind = UNSTYLED, 0
    elif byte == 110 and _is_word(at, end, 4, _NULL):
        fault, after, style, value_kind = faults.OK, at + 4, styles.NULL, 0
    else:
        fault, after = _scalar_end(at, end)
        style, value_kind = UNSTYLED, 0
    return fault, (at if _is_misfit(fault) else after), style, value_kind


@_apart
def _list_value(at, end, row, column, declared, fields, work):
    """An array whose elements are to be of one kind. All of them are written in one style, the last one's."""
    element = _at64(fields.element, column)
    spaced = _at64(work.hint, column) >= styles.SPACED
    styled = True
    first = work.state[POOL]
    count = 0
    at += 1
    value = _behind_space(at, end)
    if value < end and _byte(value) == 93:
        styled = value == at
        at = value
    else:
        while True:
            if value >= end:
                return faults.CUT_OFF, value, UNSTYLED, 0
            fault, at, style, _ = _element_value(value, end, first + count, element, declared, fields, work)
            count += 1
            work.state[POOL] = first + count  # also of a row that is given up: its places are not clean
            if fault != faults.OK:
                return fault | faults.IN_ELEMENT, at, UNSTYLED, 0
            styled = styled and style != UNSTYLED
            after = _behind_space(at, end)
            if after >= end:
                return faults.CUT_OFF, after, UNSTYLED, 0
            styled = styled and after == at
            at = after
            if _byte(at) == 93:
                break
            if _byte(at) != 44:
                return faults.NO_COMMA, at, UNSTYLED, 0
            value = _behind_space(at + 1, end)
            if count == 1:
                spaced = value > at + 1
            styled = styled and value - at - 1 == (1 if spaced else 0)
    _put_int64(_at64(fields.values, column) + 8 * row, first)
    _put_int32(_at64(fields.lengths, column) + 4 * row, count)
    _set_bit(_at64(fields.valid, column), row)
    if not styled:
        return faults.OK, at + 1, UNSTYLED, IS_ARRAY
    style = (styles.SPACED if spaced else styles.LISTS) + _at64(work.hint, element)
    _put_int64(work.hint + 8 * column, style)
    return faults.OK, at + 1, style, IS_ARRAY


@_apart
def _array_kinds(at, end):
    """(position behind a proven array, its kind and those of its elements)

    Where it has spaces that no style has, it is told as if it had objects: a list could not give it back.
    """
    kinds = 0
    space = -1
    start = at + 1
    at = _behind_space(start, end)
    kinds |= IS_OBJECT if at > start else 0
    while _byte(at) != 93:
        byte = _byte(at)
        if byte == 123 or byte == 91:
            _, at = _nested_end(at, end)
            kinds |= IS_OBJECT
        elif byte == 34:
            _, at = _scalar_end(at, end)
            kinds |= IS_STRING
        elif byte == 45 or 48 <= byte <= 57:
            negative = byte == 45
            _, at, digits, count, decimals, _, exponent = _number(at, end)
            kinds |= IS_LONG if _fits_long(digits, count, decimals, exponent, negative) else IS_DOUBLE
        else:
            _, at = _scalar_end(at, end)
            kinds |= 0 if byte == 110 else IS_BOOLEAN
        start = at
        at = _behind_space(start, end)
        kinds |= IS_OBJECT if at > start else 0
        if _byte(at) == 44:
            start = at + 1
            at = _behind_space(start, end)
            space = at - start if space < 0 else space
            kinds |= IS_OBJECT if at - start != space or space > 1 else 0
    return at + 1, IS_ARRAY | (kinds << ELEMENTS)


@_apart
def _nested_value(at, end, row, column, kind, declared, fields, work):
    is_object = _byte(at) == 123
    if kind == STRUCT and is_object:
        return _DEEPER, at, UNSTYLED, 0
    if kind == LIST and not is_object:
        return _list_value(at, end, row, column, declared, fields, work)
    fault, after = _nested_end(at, end)
    if fault != faults.OK:
        return fault, after, UNSTYLED, 0
    if _holds_raw(kind, declared):
        _store_text(fields, work, column, row, at, after - at, styles.RAW)
        return faults.OK, after, styles.RAW, IS_OBJECT
    if column < 0 and not is_object:
        after, kinds = _array_kinds(at, end)
        return faults.OK, after, UNSTYLED, kinds
    if declared and kind != NOTHING:
        return faults.MISFIT, at, UNSTYLED, IS_OBJECT
    return faults.OK, after, UNSTYLED, IS_OBJECT


@_small
def _value(at, end, row, column, declared, fields, work):
    """(fault, position behind the value or of the fault, style, kind of value; 0: null)"""
    kind = _at64(fields.kind, column) if column >= 0 else NOTHING
    byte = _byte(at)
    if byte == 34:
        fault, after, style, value_kind = _string_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 45 or 48 <= byte <= 57:
        fault, after, style, value_kind = _number_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 116 or byte == 102:
        fault, after, style, value_kind = _word_value(at, end, row, column, kind, declared, fields, work)
    elif byte == 110:
        ok = _is_word(at, end, 4, _NULL)
        return (faults.OK if ok else faults.LITERAL), (at + 4 if ok else at), styles.NULL, 0
    elif byte == 123 or byte == 91:
        fault, after, style, value_kind = _nested_value(at, end, row, column, kind, declared, fields, work)
    else:
        fault, after = _scalar_end(at, end)
        return fault, after, UNSTYLED, 0
    if _is_misfit(fault):
        after = at
    return fault, after, style, value_kind


# --- rows --------------------------------------------------------------------------------------


@_apart
def _find_text(slots, slot_count, tries_max, contexts, addresses, lengths, context, address, length):
    """(number of the text or -1, the slot where it is or would be; -1 where that is not among the first `tries_max`)"""
    slot = text_hash(context, address, length) & (slot_count - 1)
    for _ in range(tries_max):
        found = _at32(slots, slot)
        if found < 0:
            return found, slot
        same_place = _at64(lengths, found) == length and _at64(contexts, found) == context
        if same_place and _same(_at64(addresses, found), address, length):
            return found, slot
        slot = (slot + 1) & (slot_count - 1)
    return np.int64(-1), np.int64(-1)


@_small
def _child(tree, node, literal, style):
    """The node behind this one for a literal and a style, or -1. Mostly that of the row before."""
    last = _at32(tree.node_last, node)
    if last >= 0 and _at32(tree.node_literal, last) == literal and _at32(tree.node_style, last) == style:
        return last
    slot = edge_hash(node, literal, style) & (EDGE_SLOTS - 1)
    while True:
        found = _at32(tree.edge_slots, slot)
        if found < 0:
            return found
        same_edge = _at32(tree.node_literal, found) == literal and _at32(tree.node_style, found) == style
        if same_edge and _at32(tree.node_parent, found) == node:
            _put_int32(tree.node_last + 4 * node, found)
            return found
        slot = (slot + 1) & (EDGE_SLOTS - 1)


@_apart
def _open(work, fields, struct, row):
    work.seen[struct] = work.state[STAMP]
    _set_bit(_at64(fields.valid, struct), row)


@_apart
def _leave(tree, node, fields, row, work):
    """Step off the tree: from here on keys are checked one by one against those above."""
    work.state[LEFT] = node
    work.state[TOKENS] = 0
    work.state[OPENS] = 0
    work.state[STAMP] += 1
    work.state[UNKNOWN_NOW] = 0
    while node > 0:
        literal = _at32(tree.node_literal, node)
        work.seen[_at64(tree.literal_column, literal)] = work.state[STAMP]
        for n in range(_at32(tree.literal_opens, literal), _at32(tree.literal_opens, literal + 1)):
            _open(work, fields, _at32(tree.opened, n), row)
        node = _at32(tree.node_parent, node)


@_small
def _context_behind(tree, node, fields):
    """In which object a row is behind the value of this node."""
    if node == 0:
        return np.int64(TOP)
    return _at64(fields.parent, _at64(tree.literal_column, _at32(tree.node_literal, node)))


@_small
def _context_of(unknown):
    """An object that has no column, as a context."""
    return DONE - 1 - unknown


@_apart
def _outer(context, fields, work):
    """The object around an object."""
    if context > TOP:
        return _at64(fields.parent, context)
    return _at64(work.unknown_context, DONE - 1 - context)


@_apart
def _depth(context, fields, work):
    if context == TOP:
        return np.int64(0)
    if context > TOP:
        return _at64(fields.depth, context) + 1
    return work.unknown_depth[DONE - 1 - context] + 1


@_apart
def _seen_unknown(context, address, length, fields, work):
    """(number of the unknown key or -1 where no more are counted, whether this row had it before)"""
    found, slot = _find_text(
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
        found = work.state[UNKNOWN]
        if found >= UNKNOWN_MAX or slot < 0:
            return np.int64(-1), False
        work.state[UNKNOWN] += 1
        _put_int32(work.unknown_slots + 4 * slot, found)
        _put_int64(work.unknown_context + 8 * found, context)
        _put_int64(work.unknown_address + 8 * found, address)
        _put_int64(work.unknown_length + 8 * found, length)
        work.unknown_kinds[found] = 0
        work.unknown_seen[found] = 0
        work.unknown_count[found] = 0
        work.unknown_depth[found] = _depth(context, fields, work)
    if work.unknown_seen[found] == work.state[STAMP]:
        return found, True
    work.unknown_seen[found] = work.state[STAMP]
    return found, False


@_apart
def _column_of(context, key, key_end, flags, keys, work):
    """(column or -1, address and length of the key without escapes, which may lie at the end of the arena)"""
    length = key_end - key
    if flags & HAS_ESCAPES:
        text = work.arena + work.state[ARENA]
        length = _unescaped(key, key_end, text)
        key = text
    found, _ = _find_text(
        keys.slots, keys.slot_count, keys.slot_count, keys.context, keys.address, keys.length, context, key, length
    )
    return (_at64(keys.column, found) if found >= 0 else np.int64(-1)), key, length


@_small
def _note_unknown(work, unknown, kind):
    now = work.state[UNKNOWN_NOW]
    work.unknown_now[now] = unknown
    work.unknown_now_kind[now] = kind
    work.state[UNKNOWN_NOW] = now + 1


@_small
def _key(at, end):
    """(fault, where; key, behind it, flags, position of the value); `at`: where the key is due"""
    if at >= end:
        return faults.CUT_OFF, at, at, at, 0, at
    if _byte(at) != 34:
        return faults.NO_KEY, at, at, at, 0, at
    key = at + 1
    fault, key_end, flags = _string(key, end)
    if fault != faults.OK:
        return fault, key_end, key, key, flags, at
    at = _behind_space(key_end + 1, end)
    if at >= end:
        return faults.CUT_OFF, at, key, key_end, flags, at
    if _byte(at) != 58:
        return faults.NO_COLON, at, key, key_end, flags, at
    at = _behind_space(at + 1, end)
    return (faults.OK if at < end else faults.CUT_OFF), at, key, key_end, flags, at


@_apart
def _plain_slot(at, end, first):
    """As `_next_slot`, of the outermost object, up to a value whatever it is: (fault, where, whether the row ends)"""
    at = _behind_space(at, end)
    if at >= end:
        return (faults.EMPTY if first else faults.CUT_OFF), at, False
    byte = _byte(at)
    if byte != (123 if first else 44) and not (byte == 125 and not first):
        return (faults.NO_OBJECT if first else faults.NO_COMMA), at, False
    if byte != 125:
        at = _behind_space(at + 1, end)
        if first and at < end:
            byte = _byte(at)
    if byte == 125:
        at = _behind_space(at + 1, end)
        return (faults.OK if at == end else faults.TRAILING), at, True
    fault, at, _, _, _, _ = _key(at, end)
    return fault, at, False


@_apart
def _next_slot(at, end, row, first, context, counted, declared, fields, keys, work):
    """From behind a value, or from the start of a row, to the next value that has a slot, or to the row's end.

    (fault, position of the value or of the fault, column or -1, number of the unknown key or -1, in which object)
    On the way objects end and others begin. `counted`: the row has left the tree. Its keys are checked then, and the
    columns of keys are looked up; otherwise only those that may lead into an object.
    """
    none = np.int64(-1)
    opened = False
    if first:
        at = _behind_space(at, end)
        if at >= end:
            return faults.EMPTY, at, none, none, context
        if _byte(at) != 123:
            return faults.NO_OBJECT, at, none, none, context
        opened = True
        at += 1
    while True:
        at = _behind_space(at, end)
        if at >= end:
            return faults.CUT_OFF, at, none, none, context
        member = at
        if _byte(at) == 125:
            at += 1
            if context == TOP:
                at = _behind_space(at, end)
                return (faults.OK if at == end else faults.TRAILING), at, none, none, np.int64(DONE)
            context = _outer(context, fields, work)
            opened = False
            continue
        if not opened:
            if _byte(at) != 44:
                return faults.NO_COMMA, at, none, none, context
            at = _behind_space(at + 1, end)
        fault, where, key, key_end, flags, value = _key(at, end)
        if fault != faults.OK:
            return fault, where, none, none, context
        is_object = _byte(value) == 123
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
            column, text, length = _column_of(context, key, key_end, flags, keys, work)
        elif flags & HAS_ESCAPES and not flags & HALF_SURROGATE:
            text = work.arena + work.state[ARENA]
            length = _unescaped(key, key_end, text)
        if column < 0 and takes_rest:
            return faults.OK, key - 1, np.int64(fields.rest), none, context
        if counted and column >= 0:
            if work.seen[column] == work.state[STAMP]:
                return faults.TWICE, member, column, none, context
            work.seen[column] = work.state[STAMP]
        elif counted:
            unknown, twice = _seen_unknown(context, text, length, fields, work)
            if text != key and unknown == work.state[UNKNOWN] - 1:
                work.state[ARENA] += length
            if twice:
                if context == TOP:
                    return faults.TWICE, key, none, none, context
                unknown = none
        if not is_object:
            return faults.OK, value, column, unknown, context
        if column >= 0 and _at64(fields.kind, column) == STRUCT:
            if counted:
                _open(work, fields, column, row)
                work.open_at[work.state[OPENS]] = value
                work.open_column[work.state[OPENS]] = column
                work.state[OPENS] += 1
            context = column
        elif unknown >= 0 and not declared and _depth(context, fields, work) < STRUCT_DEPTH_MAX:
            _note_unknown(work, unknown, IS_OBJECT)
            context = _context_of(unknown)
        else:
            return faults.OK, value, column, unknown, context
        opened = True
        at = value + 1


@_apart
def _rest_value(at, end, row, fields, keys, work):
    """Members that have no column, from the first one's key on: (fault, position, style). They are added to what the
    row had of such; only one stretch of them can be written again."""
    start = at
    behind = at
    while True:
        fault, where, key, key_end, flags, value = _key(at, end)
        if fault != faults.OK:
            return fault, where, UNSTYLED
        if not flags & HALF_SURROGATE:
            column, _, _ = _column_of(TOP, key, key_end, flags, keys, work)
            if column >= 0:
                break
        byte = _byte(value)
        fault, after = _nested_end(value, end) if byte == 123 or byte == 91 else _scalar_end(value, end)
        if fault != faults.OK:
            return fault, after, UNSTYLED
        behind = after
        at = _behind_space(after, end)
        if at >= end or _byte(at) != 44:
            break
        at = _behind_space(at + 1, end)
    again = work.state[REST_END] > work.state[REST_START]
    to = work.rest_arena + work.state[REST_END] - (1 if again else 0)
    _put_byte(to, 44 if again else 123)
    _move(to + 1, start, behind - start)
    to += 1 + behind - start
    _put_byte(to, 125)
    work.state[REST_END] = to + 1 - work.rest_arena
    text = work.rest_arena + work.state[REST_START]
    _store_text(fields, work, fields.rest, row, text, to + 1 - text, UNSTYLED)
    return faults.OK, behind, (UNSTYLED if again else styles.REST)


@_apart
def _note_token(work, at, length, style, column):
    token = work.state[TOKENS]
    work.token_at[token] = at
    work.token_length[token] = length
    work.token_style[token] = style
    work.token_column[token] = column
    work.state[TOKENS] += 1


@_small
def _row(row, at, end, declared, fields, keys, tree, work):
    """(fault, where, column that it concerns or -1, node of the row's shape, or NEW_SHAPE, or NO_SHAPE)"""
    node = np.int64(0)
    context = np.int64(TOP)
    on_tree = True
    styled = True
    start = at
    while True:
        literal = np.int64(-1)
        column = np.int64(-1)
        unknown = np.int64(-1)
        value = at
        is_rest = False
        if on_tree:
            last = _at32(tree.node_last, node)
            if last >= 0:
                guess = _at32(tree.node_literal, last)
                length = _at64(tree.literal_length, guess)
                if length <= end - at and _same(_at64(tree.literal_address, guess), at, length):
                    if _at32(tree.node_style, last) == styles.END:
                        if length == end - at:
                            return faults.OK, at, column, last
                    elif length < end - at and _byte(at + length) > 32:
                        literal = guess
                        column = _at64(tree.literal_column, guess)
                        value = at + length
        if literal < 0:
            if on_tree:
                context = _context_behind(tree, node, fields)
            before = context
            plain = on_tree and context == TOP and fields.rest < 0
            if plain:
                fault, value, done = _plain_slot(at, end, at == start)
                if fault != faults.OK:
                    return fault, value, column, NO_SHAPE
                if done:
                    context = np.int64(DONE)
                else:
                    plain = _byte(value) != 123
            if not plain:
                fault, value, column, unknown, context = _next_slot(
                    at, end, row, at == start, before, not on_tree, declared, fields, keys, work
                )
                if fault != faults.OK:
                    return fault, value, column, NO_SHAPE
            if on_tree:
                literal, _ = _find_text(
                    tree.literal_slots,
                    LITERAL_SLOTS,
                    LITERAL_SLOTS,
                    tree.literal_context,
                    tree.literal_address,
                    tree.literal_length,
                    before,
                    at,
                    value - at,
                )
                node_end = np.int64(-1)
                if literal >= 0 and context == DONE:
                    node_end = _child(tree, node, literal, styles.END)
                    if node_end >= 0:
                        return faults.OK, value, column, node_end
                if literal < 0 or context == DONE:
                    on_tree = False
                    _leave(tree, node, fields, row, work)
                    fault, value, column, unknown, context = _next_slot(
                        at, end, row, at == start, before, True, declared, fields, keys, work
                    )
                    if fault != faults.OK:
                        return fault, value, column, NO_SHAPE
                else:
                    column = _at64(tree.literal_column, literal)
            if context == DONE:
                if not styled or work.state[UNKNOWN_NOW] > 0:
                    return faults.OK, value, column, NO_SHAPE
                _note_token(work, at, value - at, styles.END, -1)
                return faults.OK, value, column, NEW_SHAPE
            is_rest = fields.rest >= 0 and column == fields.rest
        if is_rest:
            fault, after, style = _rest_value(value, end, row, fields, keys, work)
            kind = 0
        else:
            fault, after, style, kind = _value(value, end, row, column, declared, fields, work)
        if fault != faults.OK:
            if fault == _DEEPER or (not is_rest and column >= 0 and column == fields.rest):
                _put_int32(tree.node_last + 4 * node, -1)  # that guess misleads: look closer
                continue
            return fault, after, column, NO_SHAPE
        if style == styles.NULL and column >= 0:
            style = _at64(work.hint, column)
            last = _at32(tree.node_last, node)
            if on_tree and last >= 0 and _at32(tree.node_literal, last) == literal and style != UNSTYLED:
                style = _at32(tree.node_style, last)
        if on_tree:
            child = _child(tree, node, literal, style) if style != UNSTYLED else np.int64(-1)
            if child >= 0:
                node = child
                at = after
                continue
            on_tree = False
            _leave(tree, node, fields, row, work)
            fault, value, column, unknown, context = _next_slot(
                at, end, row, at == start, _context_behind(tree, node, fields), True, declared, fields, keys, work
            )
            if fault != faults.OK:
                return fault, value, column, NO_SHAPE
        if style == UNSTYLED or column < 0:
            styled = False
        if unknown >= 0:
            _note_unknown(work, unknown, kind)
        elif styled:
            _note_token(work, at, value - at, style, column)
        at = after


@_apart
def _clear_row(fields, row):
    """Null in every column: whatever the row had stored before its fault was found."""
    for column in range(fields.columns):
        kind = _at64(fields.kind, column)
        if kind != NOTHING and _at64(fields.parent, column) != ELEMENT:
            at = _at64(fields.valid, column) + (row >> 3)
            _put_byte(at, _byte(at) & ~(1 << (row & 7)))
            if kind in (STRING, TEXT, LIST, REST):
                _put_int32(_at64(fields.lengths, column) + 4 * row, 0)
            elif kind == BOOLEAN:
                at = _at64(fields.values, column) + (row >> 3)
                _put_byte(at, _byte(at) & ~(1 << (row & 7)))


@_apart
def _count_unknown(work):
    for now in range(work.state[UNKNOWN_NOW]):
        work.unknown_kinds[work.unknown_now[now]] |= work.unknown_now_kind[now]
        work.unknown_count[work.unknown_now[now]] += 1
    work.state[UNKNOWN_NOW] = 0


@_kernel
def decode_rows(first, declared, may_grow, untried, source, fields, keys, tree, work):
    """Decode from row `first` on: the row that would be the first of a new shape, or the number of rows at the end.

    The tokens of such a row are in `work`. Call again from the same row, with the shape in the tree; from `untried` on
    a row may ask for that.
    """
    count = source.offsets.size - 1
    for row in range(first, count):
        start = source.address + np.int64(source.offsets[row])
        end = source.address + np.int64(source.offsets[row + 1])
        arena = work.state[ARENA]
        pool = work.state[POOL]
        work.state[REST_START] = work.state[REST_END]
        work.state[UNKNOWN_NOW] = 0
        fault, at, column, node = _row(row, start, end, declared, fields, keys, tree, work)
        if fault != faults.OK:
            work.fault[row] = fault
            work.fault_at[row] = at - start
            work.fault_column[row] = column
            _clear_row(fields, row)
        elif node >= 0:
            shape = _at32(tree.node_shape, node)
            for n in range(_at32(tree.shape_opens, shape), _at32(tree.shape_opens, shape + 1)):
                _set_bit(_at64(fields.valid, _at32(tree.shape_opened, n)), row)
            after = _encoded_row(row, shape, tree, fields, work.scratch, work.scratch_end)
            if after - work.scratch == end - start and _same(work.scratch, start, end - start):
                work.shape[row] = shape
                work.exact[row] = True
        elif node == NEW_SHAPE and may_grow and row >= untried:
            work.state[ARENA] = arena
            work.state[POOL] = pool
            work.state[REST_END] = work.state[REST_START]
            return row
        elif work.state[UNKNOWN_NOW] > 0:
            _count_unknown(work)
    return count


@_kernel
def gather(addresses, lengths, offsets, to):
    """Bring the texts of a column together; `offsets` become Arrow's."""
    at = np.int64(0)
    for row in range(lengths.size):
        length = np.int64(lengths[row])
        _move(to + at, addresses[row], length)
        at += length
        offsets[row + 1] = at


# --- columns to bytes --------------------------------------------------------------------------


@_small
def _put_boolean(to, true):
    if true:
        _put_int32(to, _TRUE)
        return to + 4
    _put_byte(to, 102)
    _put_int32(to + 1, _ALSE)
    return to + 5


@_apart
def _put_element(to, stop, row, column, style, fields):
    """A value of a list, which has no parts: the position behind it, or NO_ROOM, or NOT_OF_SHAPE."""
    if not _has_bit(_at64(fields.valid, column), _at64(fields.first_bit, column) + row):
        _put_int32(to, _NULL)
        return to + 4
    value = _at64(fields.values, column) + 8 * row
    if styles.RAW <= style <= styles.HTML_QUOTED:
        length = _int32(_at64(fields.lengths, column) + 4 * row)
        if length * _ESCAPED_BYTES_MAX + 2 > stop - to:
            return np.int64(NO_ROOM)
        if style != styles.RAW:
            return _put_string(to, _int64(value), length, style)
        _move(to, _int64(value), length)
        return to + length
    if style == styles.WHOLE:
        return _put_whole(to, _int64(value))
    if style == styles.BOOLEAN:
        return _put_boolean(to, _has_bit(_at64(fields.values, column), _at64(fields.first_bit, column) + row))
    return _put_number(to, value, style)


@_apart
def _put_list(to, stop, row, column, style, fields):
    first = _int64(_at64(fields.values, column) + 8 * row)
    count = _int32(_at64(fields.lengths, column) + 4 * row)
    element = _at64(fields.element, column)
    spaced = style >= styles.SPACED
    style -= styles.SPACED if spaced else styles.LISTS
    _put_byte(to, 91)
    to += 1
    for k in range(count):
        if stop - to < 2 * NUMBER_BYTES_MAX:
            return np.int64(NO_ROOM)
        if k > 0:
            _put_byte(to, 44)
            to += 1
            if spaced:
                _put_byte(to, 32)
                to += 1
        to = _put_element(to, stop, first + k, element, style, fields)
        if to < 0:
            return to
    if to >= stop:
        return np.int64(NO_ROOM)
    _put_byte(to, 93)
    return to + 1


@_apart
def _put_rest(to, stop, row, column, fields):
    """Members without the brackets that stand around them in the column."""
    text = _int64(_at64(fields.values, column) + 8 * row)
    length = _int32(_at64(fields.lengths, column) + 4 * row)
    if length < 2:
        return np.int64(NOT_OF_SHAPE)
    if length > stop - to:
        return np.int64(NO_ROOM)
    _move(to, text + 1, length - 2)
    return to + length - 2


@_apart
def _put_parts(to, stop, row, column, style, fields):
    if style == styles.REST:
        return _put_rest(to, stop, row, column, fields)
    return _put_list(to, stop, row, column, style, fields)


@_small
def _encoded_row(row, shape, tree, fields, to, stop):
    """Write a row by its shape: the position behind it, or NO_ROOM, or NOT_OF_SHAPE."""
    for token in range(_at32(tree.shape_first, shape), _at32(tree.shape_first, shape + 1)):
        literal = _at32(tree.token_literal, token)
        length = _at64(tree.literal_length, literal)
        if length + NUMBER_BYTES_MAX > stop - to:
            return NO_ROOM
        _move(to, _at64(tree.literal_address, literal), length)
        to += length
        style = _at32(tree.token_style, token)
        if style == styles.END:
            return to
        column = _at32(tree.token_column, token)
        if style == styles.NULL or not _has_bit(_at64(fields.valid, column), _at64(fields.first_bit, column) + row):
            _put_int32(to, _NULL)
            to += 4
            continue
        if styles.RAW <= style <= styles.HTML_QUOTED:
            text = _int64(_at64(fields.values, column) + 8 * row)
            length = _int32(_at64(fields.lengths, column) + 4 * row)
            if length * _ESCAPED_BYTES_MAX + 2 > stop - to:
                return NO_ROOM
            if style == styles.RAW:
                _move(to, text, length)
                to += length
            else:
                to = _put_string(to, text, length, style)
        elif style == styles.WHOLE:
            if _at64(fields.kind, column) == INT:
                to = _put_whole(to, _int32(_at64(fields.values, column) + 4 * row))
            else:
                to = _put_whole(to, _int64(_at64(fields.values, column) + 8 * row))
        elif style == styles.BOOLEAN:
            to = _put_boolean(to, _has_bit(_at64(fields.values, column), _at64(fields.first_bit, column) + row))
        elif style < styles.LISTS:
            to = _put_number(to, _at64(fields.values, column) + 8 * row, style)
            if to < 0:
                return to
        else:
            to = _put_parts(to, stop, row, column, style, fields)
            if to < 0:
                return to
    return NOT_OF_SHAPE


@_kernel
def encode_rows(first, shapes, tree, fields, to, stop, offsets):
    """Write rows from `first` on behind each other: (how far it came, position, or what went wrong with that row)."""
    start = to
    to += np.int64(offsets[first])
    for row in range(first, shapes.size):
        after = _encoded_row(row, np.int64(shapes[row]), tree, fields, to, stop)
        if after < 0:
            return row, after
        to = after
        offsets[row + 1] = to - start
    return shapes.size, to - start
