"""Writes Avro types as JSON: in stored form, normalized, or with all referred types inlined.

A named type is written out at its first occurrence and by its name after that. Types of references are only named,
unless `inline` is set.
"""

from collections.abc import Collection
from typing import Any

from lakestream.contract.registry.avro.types import (
    NO_DEFAULT,
    Array,
    AvroField,
    AvroRecord,
    AvroType,
    Enum,
    Fixed,
    Map,
    Named,
    Primitive,
    Union,
    namespace_of,
    simple_name,
)

Json = dict[str, Any]


class AvroWriter:
    """Writes one schema. `known` are names that need no definition. `bare`: without defaults and docs."""

    def __init__(self, known: Collection[str] = (), *, full_names: bool = False, bare: bool = False) -> None:
        self._written = set(known)
        self._full_names = full_names
        self._bare = bare

    def write(self, type: AvroType, namespace: str = "") -> Any:
        match type:
            case Primitive():
                extra = self._extra(type.extra)
                return {"type": type.kind, **extra} if extra else type.kind
            case Union():
                return [self.write(branch, namespace) for branch in type.branches]
            case Array():
                return {"type": "array", "items": self.write(type.items, namespace), **self._extra(type.extra)}
            case Map():
                return {"type": "map", "values": self.write(type.values, namespace), **self._extra(type.extra)}
        if type.name in self._written:
            return self._reference(type.name, namespace)
        self._written.add(type.name)
        return self._definition(type, namespace)

    def _definition(self, type: Named, namespace: str) -> Json:
        head = {"type": type.kind, **self._naming(type, namespace), **self._doc(type.extra)}
        rest = {key: value for key, value in self._extra(type.extra).items() if key != "doc"}
        match type:
            case AvroRecord():
                inner = namespace_of(type.name)
                return {**head, "fields": [self._field(field, inner) for field in type.fields], **rest}
            case Enum():
                default = {} if type.default is None else {"default": type.default}
                return {**head, "symbols": list(type.symbols), **default, **rest}
            case Fixed():
                return {**head, "size": type.size, **rest}

    def _field(self, field: AvroField, namespace: str) -> Json:
        written: Json = {"name": field.name, "type": self.write(field.type, namespace)}
        written |= self._doc(field.extra)
        if field.default is not NO_DEFAULT and not self._bare:
            written["default"] = field.default
        if field.aliases:
            written["aliases"] = list(field.aliases)
        return written | self._extra(field.extra)

    def _naming(self, type: Named, namespace: str) -> Json:
        aliases = {"aliases": list(type.aliases)} if type.aliases else {}
        space = namespace_of(type.name)
        if self._full_names and space:
            return {"name": type.name, **aliases}
        changed = {"namespace": space} if space != namespace else {}
        return {"name": simple_name(type.name), **changed, **aliases}

    def _reference(self, name: str, namespace: str) -> str:
        return simple_name(name) if namespace_of(name) == namespace and not self._full_names else name

    def _doc(self, extra: Json) -> Json:
        return {"doc": extra["doc"]} if "doc" in extra and not self._bare else {}

    def _extra(self, extra: Json) -> Json:
        return {} if self._bare else extra
