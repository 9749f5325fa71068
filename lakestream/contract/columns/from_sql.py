"""Columns as people write them in one line, as fields of an Iceberg schema.

    "id bigint, tags array<string>"   ->   [{"id": 1, "name": "id", "required": False, "type": "long"}, ...]

Types have the names of Spark and Iceberg, and some that other engines use for them.
"""

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from lakestream.contract.columns.from_iceberg import DEPTH_MAX
from lakestream.contract.columns.kinds import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    decimal,
    fixed,
)
from lakestream.contract.columns.layout import CannotFollow

Json = dict[str, Any]

_TYPES = {
    **{name: name for name in (BOOLEAN, INT, LONG, FLOAT, DOUBLE, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, STRING, UUID)},
    "bool": BOOLEAN,
    "integer": INT,
    "bigint": LONG,
    "real": FLOAT,
    "timestamp_ntz": TIMESTAMP,
    "varchar": STRING,
    "text": STRING,
    BINARY: BINARY,
    "bytea": BINARY,
    "blob": BINARY,
}
_TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*|\d+)|\"([^\"]+)\"|`([^`]+)`|([<>(),:\[\]]))")
_SHOWN = "'id bigint, tags array<string>, address struct<city: string>, price decimal(9,2)'"
_SIGNS = frozenset("<>(),:[]")
_END = ""


def fields_of(text: str) -> list[Json]:
    """Raises CannotFollow, which says where the text cannot be read."""
    reader = _Reader(text)
    fields = reader.fields(_END, DEPTH_MAX)
    if reader.token != _END:
        raise reader.unread("a comma")
    return fields


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._ids = count(1)
        self.token = next(self._tokens)

    def fields(self, end: str, depth: int) -> list[Json]:
        found = [self._field(depth)]
        while self._takes(","):
            found.append(self._field(depth))
        if self.token != end:
            raise self.unread(f"a comma or '{end}'" if end else "a comma")
        return found

    def unread(self, expected: str) -> CannotFollow:
        here = f"'{self.token}'" if self.token else "the end"
        return CannotFollow(f"the columns cannot be read: {expected} should stand where {here} is. Write {_SHOWN}")

    def _field(self, depth: int) -> Json:
        id, name = next(self._ids), self._take("a column's name")
        self._takes(":")
        return {"id": id, "name": name, "required": False, "type": self._type(depth)}

    def _type(self, depth: int) -> Json | str:
        if depth == 0:
            raise CannotFollow(f"the columns are nested more than {DEPTH_MAX} deep: use flatter types")
        word = self._take("a type")
        match word.lower():
            case "array" | "list":
                self._expect("<")
                element = {"element-id": next(self._ids), "element-required": False, "element": self._type(depth - 1)}
                self._expect(">")
                return {"type": "list", **element}
            case "map":
                return self._map(depth - 1)
            case "struct":
                self._expect("<")
                fields = self.fields(">", depth - 1)
                self._expect(">")
                return {"type": "struct", "fields": fields}
            case "decimal" | "numeric":
                digits, scale = self._numbers(2)
                return decimal(digits, scale)
            case "fixed":
                return fixed(*self._numbers(1))
        if word.lower() not in _TYPES:
            raise CannotFollow(f"there is no type '{word}': use {', '.join(_TYPES)}, decimal, array, struct or map")
        return _TYPES[word.lower()]

    def _map(self, depth: int) -> Json:
        self._expect("<")
        key_id, key = next(self._ids), self._type(depth)
        self._expect(",")
        value_id, value = next(self._ids), self._type(depth)
        self._expect(">")
        of_value = {"value-id": value_id, "value-required": False, "value": value}
        return {"type": "map", "key-id": key_id, "key": key, **of_value}

    def _numbers(self, wanted: int) -> list[int]:
        """`(9, 2)`, or `[16]`."""
        closing = "]" if self._takes("[") else ")"
        if closing == ")":
            self._expect("(")
        numbers: list[int] = []
        for at in range(wanted):
            if at:
                self._expect(",")
            if not self.token.isdecimal():
                raise self.unread("a number")
            numbers.append(int(self._take("a number")))
        self._expect(closing)
        return numbers

    def _take(self, expected: str) -> str:
        token = self.token
        if token in _SIGNS or token == _END:
            raise self.unread(expected)
        self._advance()
        return token

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            raise self.unread(f"'{sign}'")

    def _takes(self, sign: str) -> bool:
        if self.token != sign:
            return False
        self._advance()
        return True

    def _advance(self) -> None:
        self.token = next(self._tokens)


def _tokens(text: str) -> Iterator[str]:
    """Words and signs, then `_END` for ever. A quoted word may be anything."""
    at = 0
    text = text.rstrip()
    while at < len(text):
        if (found := _TOKEN.match(text, at)) is None:
            raise CannotFollow(f"the columns cannot be read from '{text[at : at + 20]}' on. Write {_SHOWN}")
        yield next(word for word in found.groups() if word is not None)
        at = found.end()
    while True:
        yield _END
