"""Parses an Avro schema's JSON to types with resolved names. Errors name the path of a violation."""

import re
from typing import Any

from lakestream.contract.registry.avro.defaults import misfit
from lakestream.contract.registry.avro.logical import logical_of
from lakestream.contract.registry.avro.types import (
    NO_DEFAULT,
    PRIMITIVES,
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
    shown,
    simple_name,
)
from lakestream.contract.registry.limits import NODES_MAX
from lakestream.model.registry_errors import InvalidSchema, SchemaTooLarge

Json = dict[str, Any]

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_OWN = {
    "record": {"type", "name", "namespace", "aliases", "fields"},
    "enum": {"type", "name", "namespace", "aliases", "symbols", "default"},
    "fixed": {"type", "name", "namespace", "aliases", "size"},
    "array": {"type", "items"},
    "map": {"type", "values"},
    "field": {"name", "type", "default", "aliases"},
}


class AvroParser:
    """`names` are the types known so far, by full name. A schema's references are parsed into the same names first."""

    def __init__(self) -> None:
        self.names: dict[str, Named] = {}
        self._nodes = 0

    def parse(self, schema: Any) -> AvroType:
        return self._type(schema, "", "")

    def _type(self, schema: Any, namespace: str, path: str) -> AvroType:
        self._count()
        match schema:
            case str():
                return self._by_name(schema, namespace, path)
            case list():
                return self._union(schema, namespace, path)
            case dict():
                return self._object(schema, namespace, path)
        raise InvalidSchema(f"{_at(path)}: a type is a name, a list of types or an object, not {schema!r:.40}")

    def _by_name(self, name: str, namespace: str, path: str) -> AvroType:
        if name in PRIMITIVES:
            return Primitive(kind=name)
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        if full not in self.names:
            raise InvalidSchema(f"{_at(path)}: the type '{full}' is not defined: define it before, or add a reference")
        return self.names[full]

    def _union(self, schema: list[Any], namespace: str, path: str) -> Union:
        branches = tuple(self._type(one, namespace, f"{path}/{n}") for n, one in enumerate(schema))
        if not branches:
            raise InvalidSchema(f"{_at(path)}: a union needs at least one branch")
        seen: set[str] = set()
        for n, branch in enumerate(branches):
            if isinstance(branch, Union):
                raise InvalidSchema(f"{_at(path)}/{n}: a union cannot hold a union: list its branches directly")
            key = branch.name if isinstance(branch, Named) else branch.kind
            if key in seen:
                raise InvalidSchema(f"{_at(path)}/{n}: the union has {shown(branch)} twice")
            seen.add(key)
        return Union(branches=branches)

    def _object(self, schema: Json, namespace: str, path: str) -> AvroType:
        kind = schema.get("type")
        if not isinstance(kind, str):
            raise InvalidSchema(f"{_at(path)}: 'type' must be a name here: write the inner type without the outer one")
        match kind:
            case "record" | "error":
                return self._record(schema, namespace, path)
            case "enum":
                return self._enum(schema, namespace, path)
            case "fixed":
                return self._fixed(schema, namespace, path)
            case "array":
                items = self._type(_needed(schema, "items", path), namespace, f"{path}/items")
                return Array(items=items, extra=_extra(schema, "array"))
            case "map":
                values = self._type(_needed(schema, "values", path), namespace, f"{path}/values")
                return Map(values=values, extra=_extra(schema, "map"))
            case _ if kind in PRIMITIVES:
                extra = {key: value for key, value in schema.items() if key != "type"}
                return Primitive(kind=kind, logical=logical_of(kind, schema, None), extra=extra)
        return self._by_name(kind, namespace, path)

    # --- named types ---------------------------------------------------------------------------

    def _record(self, schema: Json, namespace: str, path: str) -> AvroRecord:
        name = self._new_name(schema, namespace, path)
        record = AvroRecord(name=name, aliases=_aliases(schema, name, path), extra=_extra(schema, "record"))
        self.names[name] = record
        listed = _needed(schema, "fields", path)
        if not isinstance(listed, list):
            raise InvalidSchema(f"{_at(path)}/fields: fields must be a list")
        inner = name.rpartition(".")[0]
        record.fields = tuple(self._field(one, inner, f"{path}/fields/{n}") for n, one in enumerate(listed))
        self._must_be_told_apart(record, path)
        return record

    def _field(self, field: Any, namespace: str, path: str) -> AvroField:
        if not isinstance(field, dict):
            raise InvalidSchema(f"{_at(path)}: a field is an object with a name and a type")
        name = _valid_name(field.get("name"), path)
        type = self._type(_needed(field, "type", path), namespace, f"{path}/type")
        default = field.get("default", NO_DEFAULT)
        if default is not NO_DEFAULT and (reason := misfit(type, default)) is not None:
            raise InvalidSchema(f"{_at(path)}: the default of field '{name}' does not fit its type: {reason}")
        aliases = tuple(_valid_name(alias, f"{path}/aliases") for alias in _strings(field, "aliases", path))
        return AvroField(name=name, type=type, default=default, aliases=aliases, extra=_extra(field, "field"))

    def _must_be_told_apart(self, record: AvroRecord, path: str) -> None:
        seen: set[str] = set()
        for n, field in enumerate(record.fields):
            if field.name in seen:
                raise InvalidSchema(f"{_at(path)}/fields/{n}: the record has two fields '{field.name}'")
            seen.add(field.name)

    def _enum(self, schema: Json, namespace: str, path: str) -> Enum:
        name = self._new_name(schema, namespace, path)
        symbols = tuple(_valid_name(symbol, f"{path}/symbols") for symbol in _strings(schema, "symbols", path))
        if len(found := dict.fromkeys(symbols)) != len(symbols):
            raise InvalidSchema(f"{_at(path)}/symbols: enum {name} has a symbol twice")
        default = schema.get("default")
        if default is not None and default not in symbols:
            raise InvalidSchema(f"{_at(path)}/default: {default!r:.40} is not a symbol of enum {name}")
        aliases = _aliases(schema, name, path)
        extra = _extra(schema, "enum")
        enum = Enum(name=name, aliases=aliases, symbols=found, default=default, extra=extra)
        self.names[name] = enum
        return enum

    def _fixed(self, schema: Json, namespace: str, path: str) -> Fixed:
        name = self._new_name(schema, namespace, path)
        size = _needed(schema, "size", path)
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**31:
            raise InvalidSchema(f"{_at(path)}/size: the size of fixed {name} must be a whole number of bytes")
        fixed = Fixed(
            name=name,
            aliases=_aliases(schema, name, path),
            size=size,
            logical=logical_of("fixed", schema, size),
            extra=_extra(schema, "fixed"),
        )
        self.names[name] = fixed
        return fixed

    def _new_name(self, schema: Json, namespace: str, path: str) -> str:
        given = _needed(schema, "name", path)
        space = schema.get("namespace", namespace)
        if not isinstance(given, str) or not isinstance(space, str | None):
            raise InvalidSchema(f"{_at(path)}: name and namespace must be strings")
        full = given if "." in given or not space else f"{space}.{given}"
        for part in full.split("."):
            _valid_name(part, path)
        if simple_name(full) in PRIMITIVES:
            raise InvalidSchema(f"{_at(path)}: '{full}' has the name of a primitive type")
        if full in self.names:
            raise InvalidSchema(f"{_at(path)}: the type '{full}' is defined twice: refer to it by its name")
        return full

    def _count(self) -> None:
        self._nodes += 1
        if self._nodes > NODES_MAX:
            raise SchemaTooLarge(f"the schema, with what it refers to, has more than {NODES_MAX} types: split it")


def _at(path: str) -> str:
    return path or "/"


def _needed(schema: Json, key: str, path: str) -> Any:
    if key not in schema:
        raise InvalidSchema(f"{_at(path)}: '{key}' is missing")
    return schema[key]


def _strings(schema: Json, key: str, path: str) -> list[str]:
    found = schema.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InvalidSchema(f"{_at(path)}/{key}: must be a list of strings")
    return found


def _valid_name(name: Any, path: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidSchema(
            f"{_at(path)}: {name!r:.80} is no name: use letters, digits and _, not beginning with a digit"
        )
    return name


def _aliases(schema: Json, name: str, path: str) -> tuple[str, ...]:
    """The aliases as full names: an alias without a namespace has that of its type."""
    space = name.rpartition(".")[0]
    aliases = _strings(schema, "aliases", path)
    for alias in aliases:
        for part in alias.split("."):
            _valid_name(part, f"{path}/aliases")
    return tuple(alias if "." in alias or not space else f"{space}.{alias}" for alias in aliases)


def _extra(schema: Json, kind: str) -> Json:
    return {key: value for key, value in schema.items() if key not in _OWN[kind]}
