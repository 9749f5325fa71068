"""Templates: the text of an object with slots in place of its values. A template is the shape of all rows like it.

    {"id": 7, "name": "x"}         ->   {"id": <i:1>, "name": <s:2>}                 of columns 1 and 2
    {"id": 7, "at": {"x": 1.5}}    ->   {"id": <i:1>, "at": <o:3>{"x": <d1:4>}}      column 4 is inside struct 3

A slot holds the style of the value and the field id of the column, so that it survives renaming. It stands between two
bytes of value 1, which no JSON text contains. So the shape has key order, spacing and missing keys, at every depth. It
does not have nulls: a slot whose column is null stands for null. `o` stands for no text; it marks where a struct
begins, and distinguishes a struct of nulls, or one without any key, from a null.
"""

from collections.abc import Iterable
from typing import NamedTuple

from lakestream.contract.codecs.json.kernels.styles import END, letters_of, style_of

MARK = "\x01"
_OPENS = "o"


class Opening(NamedTuple):
    """A struct that begins within the text of a token."""

    at: int
    column_id: int


class TemplatePart(NamedTuple):
    """The text up to a value, and the value's slot. The last one has only text."""

    literal: bytes
    style: int
    column_id: int = 0
    opens: tuple[Opening, ...] = ()


def template_of(tokens: Iterable[TemplatePart]) -> str:
    return "".join(_written(token) for token in tokens)


def tokens_of(template: str) -> list[TemplatePart]:
    """The parts of a template. Raises ValueError."""
    parts = template.split(MARK)
    if len(parts) % 2 == 0:
        raise ValueError("the shape of a row ends within a slot: the file is damaged")
    tokens: list[TemplatePart] = []
    literal, opens = b"", list[Opening]()
    for text, slot in zip(parts[0:-1:2], parts[1::2], strict=True):
        literal += text.encode()
        letters, column_id = _slot(slot)
        if letters == _OPENS:
            opens.append(Opening(len(literal), column_id))
        else:
            tokens.append(TemplatePart(literal, style_of(letters), column_id, tuple(opens)))
            literal, opens = b"", []
    return [*tokens, TemplatePart(literal + parts[-1].encode(), END, 0, tuple(opens))]


def _written(token: TemplatePart) -> str:
    parts, start = [], 0
    for opening in token.opens:
        parts += [token.literal[start : opening.at].decode(), f"{MARK}{_OPENS}:{opening.column_id}{MARK}"]
        start = opening.at
    parts.append(token.literal[start:].decode())
    if token.style != END:
        parts.append(f"{MARK}{letters_of(token.style)}:{token.column_id}{MARK}")
    return "".join(parts)


def _slot(slot: str) -> tuple[str, int]:
    letters, _, column_id = slot.partition(":")
    try:
        if letters != _OPENS:
            style_of(letters)
        return letters, int(column_id)
    except (KeyError, ValueError):
        raise ValueError(
            f"a shape has the slot '{slot:.20}', which is not known: a newer Lakestream reads it"
        ) from None
