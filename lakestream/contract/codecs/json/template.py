"""A template: the text of an object with slots where its values stood. It is the shape of all rows that are like it.

    {"id": 7, "name": "x"}   ->   {"id": <i:1>, "name": <s:2>}      of columns 1 and 2

A slot holds the style of the value and the field id of the column, so that it survives renaming. It stands between two
bytes of value 1, which no JSON text contains. Key order, spacing and missing keys are
thus all in the shape; nulls are not, since a slot whose column is null stands for null.
"""

from collections.abc import Iterable
from typing import NamedTuple

from lakestream.contract.codecs.json.styles import END, letters_of, style_of

MARK = "\x01"


class Token(NamedTuple):
    """The text up to a value, and the value's slot. The last one has only text."""

    literal: bytes
    style: int
    column_id: int = 0


def template_of(tokens: Iterable[Token]) -> str:
    return "".join(_written(token) for token in tokens)


def tokens_of(template: str) -> list[Token]:
    """Raises ValueError."""
    parts = template.split(MARK)
    if len(parts) % 2 == 0:
        raise ValueError("the shape of a row ends within a slot: the file is damaged")
    tokens = [_slot(text, slot) for text, slot in zip(parts[0:-1:2], parts[1::2], strict=True)]
    return [*tokens, Token(parts[-1].encode(), END)]


def _written(token: Token) -> str:
    literal = token.literal.decode()
    return literal if token.style == END else f"{literal}{MARK}{letters_of(token.style)}:{token.column_id}{MARK}"


def _slot(text: str, slot: str) -> Token:
    letters, _, column_id = slot.partition(":")
    try:
        return Token(text.encode(), style_of(letters), int(column_id))
    except (KeyError, ValueError):
        raise ValueError(
            f"a shape has the slot '{slot:.20}', which is not known: a newer Lakestream reads it"
        ) from None
