"""Decides whether a pattern of `patternProperties` covers a property's name: yes, no, or unknown.

Patterns come from outside, and an expression can be made to run for ever. So none is run: a plain text with or without
anchors is decided here, and every other pattern is unknown, which comparisons take as both yes and no.
"""

import re

_PLAIN = re.compile(r"(\^?)([\w\-/ :]*|\.\*)(\$?)")


def covers(pattern: str, name: str) -> bool | None:
    found = _PLAIN.fullmatch(pattern)
    if found is None:
        return None
    start, text, end = found.groups()
    if text == ".*":
        return True
    match bool(start), bool(end):
        case True, True:
            return name == text
        case True, False:
            return name.startswith(text)
        case False, True:
            return name.endswith(text)
    return text in name
