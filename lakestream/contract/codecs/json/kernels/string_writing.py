"""Writes texts as JSON strings, in the styles of styles.py."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels import styles
from lakestream.contract.codecs.json.kernels.memory import move, put_byte
from lakestream.contract.codecs.json.kernels.strings import plain_until
from lakestream.world.compiled.addresses import byte_at
from lakestream.world.compiled.compiling import apart, small

ESCAPED_BYTES_MAX = 6
"""The size of a character as \\u00xx. A character of several bytes takes less for each byte."""
_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
_SHORT_ESCAPES = np.frombuffer(b"\0\0\0\0\0\0\0\0btn\0fr" + bytes(18), dtype=np.uint8)
"""The letter of each control character that has a short escape."""


@small
def _put_hex_escape(to, unit):
    put_byte(to, 92)
    put_byte(to + 1, 117)
    for k in range(4):
        put_byte(to + 2 + k, np.int64(_HEX[(unit >> (12 - 4 * k)) & 15]))
    return to + 6


@small
def _put_escaped_character(to, at):
    """Write a character of several bytes as \\uxxxx: (position behind the output, position behind the character)"""
    lead = byte_at(at)
    if lead < 0xE0:
        return _put_hex_escape(to, ((lead & 0x1F) << 6) | (byte_at(at + 1) & 0x3F)), at + 2
    if lead < 0xF0:
        code = ((lead & 0x0F) << 12) | ((byte_at(at + 1) & 0x3F) << 6) | (byte_at(at + 2) & 0x3F)
        return _put_hex_escape(to, code), at + 3
    code = (
        ((lead & 0x07) << 18)
        | ((byte_at(at + 1) & 0x3F) << 12)
        | ((byte_at(at + 2) & 0x3F) << 6)
        | (byte_at(at + 3) & 0x3F)
    )
    to = _put_hex_escape(to, 0xD800 + ((code - 0x10000) >> 10))
    return _put_hex_escape(to, 0xDC00 + ((code - 0x10000) & 0x3FF)), at + 4


@small
def _is_html(byte, style):
    """Whether the style escapes an ASCII character because it has a meaning in HTML or JavaScript."""
    if style < styles.HTML:
        return False
    if style == styles.HTML_QUOTED and (byte == 61 or byte == 39):
        return True
    return byte == 60 or byte == 62 or byte == 38


@small
def _is_line_separator(at, end):
    """U+2028 and U+2029, which older JavaScript took for ends of lines."""
    return at + 2 < end and byte_at(at) == 0xE2 and byte_at(at + 1) == 0x80 and (byte_at(at + 2) | 1) == 0xA9


@apart
def _put_odd_text(to, at, end, style):
    """Write the rest of a text, from its first byte that is not plain."""
    while at < end:
        byte = byte_at(at)
        if byte >= 128:
            if style == styles.ASCII or (style >= styles.HTML and _is_line_separator(at, end)):
                to, at = _put_escaped_character(to, at)
            else:
                put_byte(to, byte)
                to += 1
                at += 1
        elif byte == 34 or byte == 92:
            put_byte(to, 92)
            put_byte(to + 1, byte)
            to += 2
            at += 1
        elif byte < 32:
            if _SHORT_ESCAPES[byte] != 0:
                put_byte(to, 92)
                put_byte(to + 1, np.int64(_SHORT_ESCAPES[byte]))
                to += 2
            else:
                to = _put_hex_escape(to, byte)
            at += 1
        elif (byte == 127 and style == styles.ASCII) or _is_html(byte, style):
            to = _put_hex_escape(to, byte)
            at += 1
        else:
            put_byte(to, byte)
            to += 1
            at += 1
    return to


@apart
def plain_in_style(at, end, style):
    """The first plain byte that this style escapes all the same, or `end`."""
    while at < end and not (byte_at(at) == 127 and style == styles.ASCII) and not _is_html(byte_at(at), style):
        at += 1
    return at


@small
def put_string(to, at, length, style):
    """Write a text with its quotes. Needs room for six times its bytes."""
    put_byte(to, 34)
    to += 1
    end = at + length
    odd = plain_until(at, end)
    if style != styles.PLAIN:
        odd = plain_in_style(at, odd, style)
    move(to, at, odd - at)
    to += odd - at
    if odd < end:
        to = _put_odd_text(to, odd, end, style)
    put_byte(to, 34)
    return to + 1
