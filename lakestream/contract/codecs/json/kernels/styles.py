"""Styles: the ways to write a value, with their letters in templates.

Table files store these letters. The meaning of a style never changes; another meaning gets another letter.
"""

END, NULL, BOOLEAN, WHOLE, RAW = 0, 1, 2, 3, 4
"""The end of the object instead of a value; always null; true or false; a whole number; any JSON, byte for byte.

If a column is null, every style writes null.
"""

PLAIN, ASCII = 5, 6
"""Strings. Both escape quotes, backslashes and control characters, in the short form if JSON has one, else as \\u00xx.

`ASCII` writes everything beyond printable ASCII as \\uxxxx, in lower case, with surrogate pairs.
"""

HTML, HTML_QUOTED = 7, 8
"""Strings that also escape < > & and the two line separators of Unicode (Go); HTML_QUOTED also = and ' (Gson)."""

STRINGS = (PLAIN, ASCII, HTML, HTML_QUOTED)
"""Consecutive numbers, right behind RAW: the kernels rely on it."""

SHORT, SHORT_WITH_POINT = 9, 10
"""Numbers with the fewest digits that identify the double, as JavaScript and as Python write them.

JavaScript writes 1, 1e-7 and 1e+21, Python 1.0, 1e-07 and 1e+16, each from there on with an exponent.
"""

FIXED = 32
"""FIXED + n: numbers with n decimals."""
DECIMALS_MAX = 22
"""Doubles represent powers of ten up to this one exactly."""

LISTS, SPACED = 64, 128
"""LISTS + style: an array whose elements all have that style, with only commas between them. SPACED + style: with a
space after each comma."""

REST = 255
"""Members without a column, as they were written, one after another."""

UNSTYLED = -1
"""No style gives these bytes back."""

_LETTERS = {NULL: "n", BOOLEAN: "b", WHOLE: "i", RAW: "j", PLAIN: "s", ASCII: "a", SHORT: "d0", SHORT_WITH_POINT: "d1"}
_LETTERS |= {HTML: "h", HTML_QUOTED: "q", REST: "r"}
_LETTERS |= {FIXED + decimals: f"f{decimals}" for decimals in range(1, DECIMALS_MAX + 1)}
_LETTERS |= {
    kind + style: f"{written}{letters}"
    for kind, written in ((LISTS, "l"), (SPACED, "m"))
    for style, letters in _LETTERS.items()
    if style not in (NULL, REST)
}
_STYLES = {letters: style for style, letters in _LETTERS.items()}


def letters_of(style: int) -> str:
    return _LETTERS[style]


def style_of(letters: str) -> int:
    """Raises KeyError."""
    return _STYLES[letters]
