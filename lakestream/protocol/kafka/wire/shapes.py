"""Make the classes of requests and responses: one per struct of an API, the same for all its versions.

A class has the fields of every version, with defaults. So a handler builds one response, and the encoder of the
requested version takes the fields that the version has. Decoding leaves fields that a version lacks at their defaults.

    ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[...])])

Objects have __slots__ and are compared by value. The default of a struct is one shared object: do not change it.
"""

from collections.abc import Iterable
from typing import Any, dataclass_transform

from lakestream.protocol.kafka.wire.describe import Field, Message, Struct
from lakestream.protocol.kafka.wire.source import ModuleText

SHOWN_BYTES_MAX = 32


@dataclass_transform(kw_only_default=True)
class Shape:
    """The base class of all messages and structs. The stubs of `generated` list their fields."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if self.__class__ is not other.__class__:
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_short(getattr(self, name))}" for name in self.__slots__)
        return f"{self.__class__.__name__}({shown})"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return list(one) == list(other)  # arrays are lists when decoded, tuples by default
    return bool(one == other)


def _short(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview) and len(value) > SHOWN_BYTES_MAX:
        return f"<{len(value)} bytes>"
    return repr(value)


def shapes(messages: Iterable[Message]) -> dict[str, Any]:
    """Classes by struct name for all versions of one message, given oldest first."""
    fields = fields_by_struct(messages)
    made: dict[str, Any] = {}
    for name in fields:
        _make(name, fields, made)
    return made


def fields_by_struct(messages: Iterable[Message]) -> dict[str, dict[str, Field]]:
    """The fields of each class by name: those of all versions, each as in the newest version."""
    fields: dict[str, dict[str, Field]] = {}
    for message in messages:
        _gather(message.root, fields)
    return fields


def _gather(struct: Struct, fields: dict[str, dict[str, Field]]) -> None:
    known = fields.setdefault(struct.name, {})
    for field in struct.fields:
        known[field.name] = field  # the newest version's default is the one that counts
        if isinstance(field.type, Struct):
            _gather(field.type, fields)


def _make(name: str, fields: dict[str, dict[str, Field]], made: dict[str, Any]) -> Any:
    if name in made:
        return made[name]
    defaults = {field.name: _default(field, fields, made) for field in fields[name].values()}
    source = ModuleText({"Shape": Shape})
    with source.block(f"class {name}(Shape):"):
        source.line(f"__slots__ = {tuple(defaults)!r}")
        parameters = [f"{each}={source.constant('default', value)}" for each, value in defaults.items()]
        with source.block(f"def __init__({', '.join(['self', *(['*'] if parameters else []), *parameters])}):"):
            for each in defaults:
                source.line(f"self.{each} = {each}")
            source.line("return")
    made[name] = source.function(name, f"shape {name}")
    return made[name]


def _default(field: Field, fields: dict[str, dict[str, Field]], made: dict[str, Any]) -> Any:
    if isinstance(field.type, Struct) and not field.array and not field.nullable:
        return _make(field.type.name, fields, made)()
    return field.default
