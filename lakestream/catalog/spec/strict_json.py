"""Reads only JSON that every reader of a metadata file can read, since everything accepted here is written there.

Python's reader accepts more than JSON allows: NaN, numbers of any length, halves of surrogate pairs. Java's readers
fail on these, and on deep nesting. So one request, or one registered file, could make a table that nobody can load
again.
"""

import json
import math
from typing import Any

from lakestream.model.table_errors import InvalidTableChange

NESTING_MAX = 200
"""Columns of real tables nest some ten levels, four of JSON each. Java's readers stop at 500 to 1,000."""
_LONG_MAX = 2**63 - 1
_LONG_DIGITS_MAX = len(str(-_LONG_MAX - 1))
_SHOWN_CHARACTERS_MAX = 40


def read_json(text: str, what: str) -> Any:
    """`what` names the text in messages. Raises InvalidTableChange."""
    try:
        value = json.loads(text, parse_int=_whole, parse_float=_fraction, parse_constant=_constant)
    except ValueError as error:
        raise InvalidTableChange(f"{what} is no JSON: {error}") from error
    except RecursionError:
        raise _too_deep(what) from None
    if text.count("{") + text.count("[") > NESTING_MAX and _nesting(value) > NESTING_MAX:
        raise _too_deep(what)
    # A half is written as \ud800, so only text with the escape is checked.
    if "\\u" in text and not _is_unicode(value):
        raise InvalidTableChange(f"{what} has half of a surrogate pair, which is no character: use whole ones")
    return value


def _whole(digits: str) -> int:
    if len(digits) > _LONG_DIGITS_MAX or not -_LONG_MAX - 1 <= (number := int(digits)) <= _LONG_MAX:
        raise InvalidTableChange(f"the number {digits[:_SHOWN_CHARACTERS_MAX]} is too large: 64 bits must hold it")
    return number


def _fraction(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise InvalidTableChange(f"the number {digits[:_SHOWN_CHARACTERS_MAX]} is too large: 64 bits must hold it")
    return number


def _constant(name: str) -> Any:
    raise InvalidTableChange(f"{name} is no JSON: leave the value out, or send null")


def _nesting(value: Any) -> int:
    """The nesting depth of the value, computed without recursion."""
    levels, inside = 0, [value]
    while inside:
        levels += 1
        inside = [part for one in inside for part in _parts(one) if isinstance(part, dict | list)]
    return levels


def _parts(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _too_deep(what: str) -> InvalidTableChange:
    return InvalidTableChange(f"{what} nests deeper than {NESTING_MAX} levels: put less in one another")
