"""Splits .proto text into tokens: names, numbers, strings, symbols.

Comments are dropped; positions are kept for messages.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from google.protobuf import text_encoding  # type: ignore[import-untyped]

from lakestream.model.registry_errors import InvalidSchema

_TOKEN = re.compile(
    r"""
    (?P<space>[\s\ufeff]+|//[^\n]*|/\*.*?\*/)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?f?))
  | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<symbol>[{}\[\]()<>=;,.:\-+/])
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    kind: str
    text: str
    at: int


class Tokens:
    """The tokens, read from the front."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0

    @property
    def front(self) -> Token:
        return self._tokens[self._next]

    def take(self) -> Token:
        token = self.front
        if token.kind != "end":
            self._next += 1
        return token

    def is_next(self, *texts: str) -> bool:
        return self.front.text in texts and self.front.kind in ("name", "symbol")

    def accept(self, text: str) -> bool:
        if self.is_next(text):
            self._next += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(f"'{text}' is expected")

    def name(self) -> str:
        return self._kind("name", "a name")

    def dotted(self) -> str:
        """A name with dots, perhaps with a leading one."""
        found = "." if self.accept(".") else ""
        found += self.name()
        while self.accept("."):
            found += "." + self.name()
        return found

    def whole(self) -> int:
        sign = -1 if self.accept("-") else 1
        text = self._kind("number", "a whole number")
        try:
            octal = len(text) > 1 and text[0] == "0" and text.isdecimal()
            return sign * int(text, 8 if octal else 0)
        except ValueError:
            self.fail(f"'{text}' is no whole number")

    def string(self) -> str:
        """A string; adjacent strings are joined."""
        try:
            return self.bytes().decode()
        except UnicodeDecodeError:
            self.fail("the string is not UTF-8")

    def bytes(self) -> bytes:
        found: bytes = _unquoted(self._kind("string", "a string"))
        while self.front.kind == "string":
            found += _unquoted(self.take().text)
        return found

    def fail(self, what: str) -> NoReturn:
        token = self.front
        line = self._text.count("\n", 0, token.at) + 1
        column = token.at - self._text.rfind("\n", 0, token.at)
        shown = "the end" if token.kind == "end" else f"'{token.text:.40}'"
        raise InvalidSchema(f"line {line}, column {column}: {what}, not {shown}")

    def _kind(self, kind: str, what: str) -> str:
        if self.front.kind != kind:
            self.fail(f"{what} is expected")
        return self.take().text


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            line = text.count("\n", 0, at) + 1
            raise InvalidSchema(f"line {line}: {text[at : at + 10]!r} is no Protobuf")
        if found.lastgroup != "space":
            yield Token(found.lastgroup, found.group(), at)
        at = found.end()
    yield Token("end", "", at)


def _unquoted(literal: str) -> bytes:
    try:
        unescaped: bytes = text_encoding.CUnescape(literal[1:-1])
    except ValueError as error:
        raise InvalidSchema(f"the string {literal:.40} cannot be read: {error}") from None
    return unescaped
