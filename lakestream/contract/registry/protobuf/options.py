"""Reads options, and sets them on a descriptor through Protobuf's text format, which knows every type."""

from typing import Any, NamedTuple

from google.protobuf import text_encoding, text_format  # type: ignore[import-untyped]

from lakestream.contract.registry.limits import NESTING_MAX
from lakestream.contract.registry.protobuf.tokens import Token, Tokens
from lakestream.model.registry_errors import InvalidSchema


class Option(NamedTuple):
    """`names` lead to the field to set; those of extensions are in parentheses."""

    names: tuple[str, ...]
    value: str

    @property
    def is_custom(self) -> bool:
        return self.names[0].startswith("(")


class CustomOption(NamedTuple):
    """A custom option of `options`, whose names are resolved from `scope`."""

    options: Any
    scope: str
    option: Option


class Options:
    """Reads options in order. Standard ones are set at once; `custom` ones wait for their definitions."""

    def __init__(self, tokens: Tokens) -> None:
        self.custom: list[CustomOption] = []
        self._tokens = tokens

    def read(self, options: Any, scope: str) -> None:
        option = _read_option(self._tokens)
        if option.is_custom:
            self.custom.append(CustomOption(options, scope, option))
        else:
            set_option(options, text_of(option, option.names), ".".join(option.names))


def _read_option(tokens: Tokens) -> Option:
    """name = value"""
    names = [_name(tokens)]
    while tokens.accept("."):
        names.append(_name(tokens))
    tokens.expect("=")
    return Option(tuple(names), _value(tokens))


def text_of(option: Option, resolved: tuple[str, ...]) -> str:
    """The option in text format: '[pkg.ext] { field: value }'. `resolved` are its names in text format."""
    *outer, last = resolved
    text = f"{last}: {option.value}" if not option.value.startswith("{") else f"{last} {option.value}"
    for name in reversed(outer):
        text = f"{name} {{ {text} }}"
    return text


def set_option(options: Any, text: str, name: str, pool: Any = None) -> None:
    """`pool` has the extensions that `text` may name."""
    if options.DESCRIPTOR.name == "MessageOptions" and name == "map_entry":
        raise InvalidSchema("the option map_entry cannot be set: write map<key, value>")
    try:
        text_format.Merge(text, options, descriptor_pool=pool)
    except text_format.ParseError as error:
        raise InvalidSchema(f"the option '{name}' cannot be set: {error}") from None


def _name(tokens: Tokens) -> str:
    if not tokens.accept("("):
        return tokens.name()
    name = tokens.dotted()
    tokens.expect(")")
    return f"({name})"


def _value(tokens: Tokens) -> str:
    if tokens.is_next("{"):
        return _aggregate(tokens)
    if tokens.front.kind == "string":
        return _quoted(tokens.bytes())
    sign = "-" if tokens.accept("-") else ""
    tokens.accept("+")
    if tokens.front.kind not in ("name", "number"):
        tokens.fail("an option's value is expected")
    return sign + tokens.take().text


def _aggregate(tokens: Tokens) -> str:
    """Everything up to the matching closing brace."""
    depth, parts = 0, list[str]()
    while True:
        token = tokens.take()
        if token.kind == "end":
            tokens.fail("'}' is expected")
        depth += (token.text in "{<[" and token.kind == "symbol") - (token.text in "}>]" and token.kind == "symbol")
        if depth > NESTING_MAX // 2:
            tokens.fail("the option's value is nested too deeply: a simpler one is expected")
        parts.append(_in_text_format(token))
        if depth == 0:
            return "".join(parts)


def _in_text_format(token: Token) -> str:
    return token.text if token.text in (".", "/") else f" {token.text}" if token.text != "{" else "{"


def _quoted(value: bytes) -> str:
    return f'"{text_encoding.CEscape(value, as_utf8=False)}"'
