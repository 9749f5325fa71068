"""A Protobuf schema from columns: the message that wants exactly these columns of its table (from_protobuf.py).

id long, address struct<city string>   ->   message { optional int64 id = 1; Address_ address = 2; ... }

A column's key is its field's number. Columns of a new table are numbered by their places.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    LIST,
    LONG,
    MAP,
    NESTED,
    STRING,
    STRUCT,
    TIMESTAMPTZ,
)
from lakestream.contract.columns.layout import CannotFollow

_NAME = re.compile("[A-Za-z][A-Za-z0-9_]*")
_TIMESTAMP = "google.protobuf.Timestamp"
TIMESTAMP_FILE = "google/protobuf/timestamp.proto"
_SCALARS = {
    BOOLEAN: "bool",
    INT: "int32",
    LONG: "int64",
    FLOAT: "float",
    DOUBLE: "double",
    STRING: "string",
    BINARY: "bytes",
    TIMESTAMPTZ: _TIMESTAMP,
}
_MAP_KEYS = frozenset((BOOLEAN, INT, LONG, STRING))
RESERVED = range(19_000, 20_000)
"""Numbers that Protobuf keeps for itself. A table has fewer columns than that."""


def numbered(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns with the numbers of their fields as keys."""
    assert len(columns) < RESERVED.start
    return tuple(_inside(replace(column, keys=(str(at),))) for at, column in enumerate(columns, start=1))


def _inside(column: Column) -> Column:
    if column.kind == STRUCT:
        return replace(column, children=numbered(column.children))
    return replace(column, children=tuple(map(_inside, column.children)))


def next_number(used: Iterable[int]) -> int:
    """The number of a new field, above all that were ever used."""
    number = max(used, default=0) + 1
    return RESERVED.stop if number in RESERVED else number


def protobuf_schema(message: str, columns: Sequence[Column], *, package: str = "", around: Sequence[str] = ()) -> str:
    """The text of the schema, whose first message this is; with `around`, the innermost of these. `columns` are
    numbered. Raises CannotFollow if Protobuf has no such name or type."""
    header = ['syntax = "proto3";', f'import "{TIMESTAMP_FILE}";', *([f"package {package};"] if package else [])]
    lines = _message(message, columns)
    for outer in reversed(around):
        lines = [f"message {outer} {{", *lines, "}"]
    return "\n".join([*header, *lines]) + "\n"


def _message(name: str, columns: Sequence[Column]) -> Iterable[str]:
    yield f"message {name} {{"
    for column in columns:
        check_protobuf_name(column.name)
        inner = f"{column.name[0].upper()}{column.name[1:]}_"
        yield from (f"  {line}" for line in _nested(inner, column))
        yield f"  {_declared(column, inner)} {column.name} = {column.keys[0]};"
    yield "}"


def check_protobuf_name(name: str) -> None:
    """Raises CannotFollow."""
    if not _NAME.fullmatch(name):
        raise CannotFollow(
            f"column '{name}' cannot be a field of Protobuf: begin its name with a letter, and use letters, digits "
            "and _"
        )


def _nested(name: str, column: Column) -> Iterable[str]:
    """The message that a column, its elements or its values are."""
    struct = column if column.kind == STRUCT else column.children[-1] if column.children else None
    return _message(name, struct.children) if struct is not None and struct.kind == STRUCT else ()


def _declared(column: Column, inner: str) -> str:
    if column.kind == LIST:
        return f"repeated {_one(column, column.children[0], inner)}"
    if column.kind == MAP:
        key, value = column.children
        if key.kind not in _MAP_KEYS:
            raise CannotFollow(f"the keys of '{column.name}' are {key.kind}, and Protobuf has no such map")
        return f"map<{_SCALARS[key.kind]}, {_one(column, value, inner)}>"
    return f"optional {_one(column, column, inner)}"


def _one(column: Column, part: Column, inner: str) -> str:
    if part.kind == STRUCT:
        return inner
    if part.kind in NESTED:
        raise CannotFollow(f"'{column.name}' has a {part.kind} within a {column.kind}, which Protobuf cannot: use avro")
    if part.kind not in _SCALARS:
        raise CannotFollow(
            f"column '{column.name}' is {part.kind}, which Protobuf has no type for: use another type, or avro"
        )
    return _SCALARS[part.kind]
