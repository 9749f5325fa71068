"""Names that match a client's regular expression of RE2: its time grows with the text, whatever the expression."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakestream.broker.groups.errors import InvalidRegularExpression


def names_matching(names: Iterable[str], regex: str) -> frozenset[str]:
    """The names that match as a whole. Raises InvalidRegularExpression."""
    _matches(pa.array([""], type=pa.string()), regex, regex)  # alone, so that the wrapper cannot repair it
    all_names = pa.array(names, type=pa.string())
    return frozenset(all_names.filter(_matches(all_names, rf"\A(?:{regex})\z", regex)).to_pylist())


def _matches(names: Any, pattern: str, regex: str) -> Any:
    try:
        return pc.match_substring_regex(names, pattern=pattern)
    except pa.ArrowInvalid as error:
        raise InvalidRegularExpression(f"'{regex[:100]}' is not a regular expression of RE2: {error}") from error
