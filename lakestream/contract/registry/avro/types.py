"""An Avro schema as objects with resolved names. A record may contain itself, so types are compared by identity.

`extra` keeps attributes that have no meaning here: documentation, logical types, properties of others.
"""

from dataclasses import dataclass, field
from typing import Any

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")


class _NoDefault:
    pass


NO_DEFAULT = _NoDefault()
"""A field without a default; None is the default null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logical:
    """A logical type that is valid for its underlying type. An invalid one is ignored, as the specification
    requires."""

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(eq=False, slots=True, kw_only=True)
class Primitive:
    kind: str
    logical: Logical | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, slots=True, kw_only=True)
class Array:
    items: "AvroType"
    extra: dict[str, Any] = field(default_factory=dict)
    kind: str = "array"


@dataclass(eq=False, slots=True, kw_only=True)
class Map:
    values: "AvroType"
    extra: dict[str, Any] = field(default_factory=dict)
    kind: str = "map"


@dataclass(eq=False, slots=True, kw_only=True)
class Union:
    branches: "tuple[AvroType, ...]"
    kind: str = "union"


@dataclass(eq=False, slots=True, kw_only=True)
class Enum:
    name: str
    aliases: tuple[str, ...]
    symbols: dict[str, None]
    """In order, with fast lookup."""
    default: str | None
    extra: dict[str, Any]
    kind: str = "enum"


@dataclass(eq=False, slots=True, kw_only=True)
class Fixed:
    name: str
    aliases: tuple[str, ...]
    size: int
    logical: Logical | None
    extra: dict[str, Any]
    kind: str = "fixed"


@dataclass(eq=False, slots=True, kw_only=True)
class AvroField:
    name: str
    type: "AvroType"
    default: Any
    aliases: tuple[str, ...]
    extra: dict[str, Any]


@dataclass(eq=False, slots=True, kw_only=True)
class AvroRecord:
    """`fields` are filled in after the record's name is known, since they may refer to it."""

    name: str
    aliases: tuple[str, ...]
    extra: dict[str, Any]
    fields: tuple[AvroField, ...] = ()
    kind: str = "record"


Named = AvroRecord | Enum | Fixed
AvroType = Primitive | Array | Map | Union | AvroRecord | Enum | Fixed


def shown(type: AvroType) -> str:
    """The type's name for people: 'int', 'record shop.Order'."""
    return f"{type.kind} {type.name}" if isinstance(type, Named) else type.kind


def simple_name(full: str) -> str:
    return full.rpartition(".")[2]


def namespace_of(full: str) -> str:
    return full.rpartition(".")[0]
