"""Whether data written with one Avro schema can be read with another: the specification's schema resolution.

https://avro.apache.org/docs/1.12.0/specification/#schema-resolution

Stricter in one point: a logical type that changes the meaning of the same bytes (milliseconds to microseconds, another
decimal scale) does not fit, although every number could be read. Paths are JSON pointers into the reader's schema.
"""

from lakestream.contract.registry.avro.logical import meaning_changed
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
    shown,
    simple_name,
)
from lakestream.contract.registry.comparing import Comparison, Differences, Incompatibility

_PROMOTIONS = {
    "int": {"long", "float", "double"},
    "long": {"float", "double"},
    "float": {"double"},
    "string": {"bytes"},
    "bytes": {"string"},
}


class Resolution:
    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def breaks(self, writer: AvroType, reader: AvroType, path: str = "") -> Differences:
        return self._comparison.pair(writer, reader, lambda: self._breaks(writer, reader, path))

    def _breaks(self, writer: AvroType, reader: AvroType, path: str) -> Differences:
        match writer, reader:
            case Union(), _:
                return self._each_branch(writer, reader, path)
            case _, Union():
                return self._some_branch(writer, reader, path)
            case AvroRecord(), AvroRecord():
                return _names(writer, reader, path) + self._fields(writer, reader, path)
            case Enum(), Enum():
                return _names(writer, reader, path) + _symbols(writer, reader, path)
            case Fixed(), Fixed():
                return _names(writer, reader, path) + _size(writer, reader, path)
            case Array(), Array():
                return self.breaks(writer.items, reader.items, f"{path}/items")
            case Map(), Map():
                return self.breaks(writer.values, reader.values, f"{path}/values")
            case Primitive(), Primitive():
                return _primitives(writer, reader, path)
        return [_mismatch(writer, reader, path)]

    def _each_branch(self, writer: Union, reader: AvroType, path: str) -> Differences:
        """All of the writer's branches must fit: any of them may have been written."""
        return [
            difference
            for branch in writer.branches
            for difference in (
                self._some_branch(branch, reader, path)
                if isinstance(reader, Union)
                else self.breaks(branch, reader, path)
            )
        ]

    def _some_branch(self, writer: AvroType, reader: Union, path: str) -> Differences:
        tried: Differences = []
        for n, branch in sorted(enumerate(reader.branches), key=lambda one: not _alike(writer, one[1])):
            found = self.breaks(writer, branch, f"{path}/{n}")
            if not found:
                return []
            if _same_name(writer, branch):
                tried = found  # the fault of the most likely branch is more useful than "none fits"
        missing = Incompatibility(
            "MISSING_UNION_BRANCH",
            path,
            f"no branch of the reader's union reads {shown(writer)}: keep that branch in the union",
        )
        return tried or [missing]

    def _fields(self, writer: AvroRecord, reader: AvroRecord, path: str) -> Differences:
        written = {field.name: field for field in writer.fields}
        return [
            difference
            for n, field in enumerate(reader.fields)
            for difference in self._field(_source(field, written), field, reader, f"{path}/fields/{n}")
        ]

    def _field(self, source: AvroField | None, field: AvroField, reader: AvroRecord, path: str) -> Differences:
        if source is not None:
            return self.breaks(source.type, field.type, f"{path}/type")
        if field.default is not NO_DEFAULT:
            return []
        why = (
            f"field '{field.name}' of record {reader.name} is not in the writer's schema and has no default: "
            "give it a default, or an alias if it was renamed"
        )
        return [Incompatibility("READER_FIELD_MISSING_DEFAULT_VALUE", path, why)]


def _source(field: AvroField, written: dict[str, AvroField]) -> AvroField | None:
    return next((written[name] for name in (field.name, *field.aliases) if name in written), None)


def _names(writer: Named, reader: Named, path: str) -> Differences:
    if _same_name(writer, reader):
        return []
    why = f"{shown(writer)} was written, {shown(reader)} is read: keep the name, or add the old one to the aliases"
    return [Incompatibility("NAME_MISMATCH", f"{path}/name", why)]


def _same_name(writer: AvroType, reader: AvroType) -> bool:
    """Whether the names match, without their namespaces or by an alias."""
    if not isinstance(writer, Named) or not isinstance(reader, Named):
        return False
    return simple_name(writer.name) == simple_name(reader.name) or writer.name in reader.aliases


def _alike(writer: AvroType, branch: AvroType) -> bool:
    """Whether the branch is likely to fit. It is tried first, so that large unions are not compared crosswise."""
    return _same_name(writer, branch) or (writer.kind == branch.kind and not isinstance(writer, Named))


def _symbols(writer: Enum, reader: Enum, path: str) -> Differences:
    missing = [symbol for symbol in writer.symbols if symbol not in reader.symbols]
    if not missing or reader.default is not None:
        return []
    why = (
        f"enum {reader.name} lacks the symbols {', '.join(missing[:10])}, which may have been written: "
        "keep them, or give the enum a default"
    )
    return [Incompatibility("MISSING_ENUM_SYMBOLS", f"{path}/symbols", why)]


def _size(writer: Fixed, reader: Fixed, path: str) -> Differences:
    if writer.size != reader.size:
        why = f"fixed {reader.name} has {reader.size} bytes, {writer.size} were written"
        return [Incompatibility("FIXED_SIZE_MISMATCH", f"{path}/size", why)]
    return _meaning(writer, reader, path)


def _primitives(writer: Primitive, reader: Primitive, path: str) -> Differences:
    if reader.kind != writer.kind and reader.kind not in _PROMOTIONS.get(writer.kind, ()):
        return [_mismatch(writer, reader, path)]
    return _meaning(writer, reader, path)


def _meaning(writer: Primitive | Fixed, reader: Primitive | Fixed, path: str) -> Differences:
    why = meaning_changed(writer.logical, reader.logical)
    return [] if why is None else [Incompatibility("LOGICAL_TYPE_MISMATCH", path, why)]


def _mismatch(writer: AvroType, reader: AvroType, path: str) -> Incompatibility:
    why = f"{shown(writer)} was written and cannot be read as {shown(reader)}"
    return Incompatibility("TYPE_MISMATCH", path, why)
