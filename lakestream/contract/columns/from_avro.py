"""The columns that an Avro schema wants of its table.

    wanted_columns(schema) -> Wanted, ...        one for each field; a schema that is no record has one column, 'value'

    record -> struct    array -> list    map -> map of string    enum -> string    [null, T] -> T
    other unions -> struct of one member for each branch, of which one is set
    a type that contains itself -> string, its values as JSON (only the outermost record has columns of its own)

If two kinds are possible, the one that gives the bytes back is chosen: a uuid written as a string may be in any case,
and a timestamp in nanoseconds does not fit Iceberg's microseconds, so they stay string and long. A time of day stays a
number: Spark's Iceberg cannot load a table that has a column of time. A type that takes no bytes (null, a record
without fields) has no column as a field; elsewhere it is a boolean.
"""

from lakestream.contract.columns.avro_traits import Traits
from lakestream.contract.columns.kinds import (
    BINARY,
    BOOLEAN,
    DATE,
    DECIMAL_DIGITS_MAX,
    LIST,
    MAP,
    STRING,
    STRUCT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    decimal,
    fixed,
)
from lakestream.contract.columns.layout import NODES_MAX, CannotFollow
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.avro.format import AvroSchema
from lakestream.contract.registry.avro.types import (
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
    simple_name,
)

ROOT_KEY = "value"
DEPTH_MAX = 64
"""Levels of structs, lists and maps. A schema that names its types one after the other may be deeper."""
FIXED_BYTES_MAX = 256
"""Longer ones are binary: a fixed column takes its full size in every row, even for null."""
_LOGICAL = {
    "date": DATE,
    "timestamp-millis": TIMESTAMPTZ,
    "timestamp-micros": TIMESTAMPTZ,
    "local-timestamp-millis": TIMESTAMP,
    "local-timestamp-micros": TIMESTAMP,
}


def wanted_columns(schema: AvroSchema) -> tuple[Wanted, ...]:
    """Raises CannotFollow if the columns are too many or too deep."""
    wanting = _Wanting(Traits(schema.type))
    if has_own_columns(schema.type, wanting.traits):
        assert isinstance(schema.type, AvroRecord)
        return wanting.fields(schema.type)
    return (wanting.part(ROOT_KEY, schema.type),)


def has_own_columns(root: AvroType, traits: Traits) -> bool:
    """Whether the fields of the outermost type are columns; otherwise it is one column."""
    return isinstance(root, AvroRecord) and any(not traits.is_empty(field.type) for field in root.fields)


def only_branch(union: Union) -> AvroType | None:
    """T, for a union of T and perhaps null; otherwise None."""
    others = [branch for branch in union.branches if branch.kind != "null"]
    return others[0] if len(others) == 1 else None


def branch_key(branch: AvroType) -> str:
    return branch.name if isinstance(branch, Named) else branch.kind


def scalar_kind(type: Primitive | Fixed | Enum) -> str:
    """The kind of a type that has no parts and takes bytes."""
    logical = type.logical if isinstance(type, Primitive | Fixed) else None
    if logical is not None and logical.name in _LOGICAL:
        return _LOGICAL[logical.name]
    if logical is not None and logical.name == "decimal" and logical.precision <= DECIMAL_DIGITS_MAX:
        return decimal(logical.precision, logical.scale)
    match type:
        case Enum():
            return STRING
        case Fixed():
            uuid = logical is not None and logical.name == "uuid"
            return UUID if uuid else fixed(type.size) if type.size <= FIXED_BYTES_MAX else BINARY
    return BINARY if type.kind == "bytes" else type.kind


class _Wanting:
    def __init__(self, traits: Traits) -> None:
        self.traits = traits
        self._parts = 0
        self._depth = 0

    def fields(self, record: AvroRecord) -> tuple[Wanted, ...]:
        return tuple(self._field(field) for field in record.fields if not self.traits.is_empty(field.type))

    def _field(self, field: AvroField) -> Wanted:
        doc = field.extra.get("doc")
        return self.part(field.name, field.type, aliases=field.aliases, doc=doc if isinstance(doc, str) else "")

    def part(
        self, key: str, type: AvroType, *, name: str | None = None, aliases: tuple[str, ...] = (), doc: str = ""
    ) -> Wanted:
        self._parts += 1
        if self._parts > NODES_MAX:  # a small schema may unfold to billions: each record twice in the next
            raise CannotFollow(f"the table would have more than {NODES_MAX:,} columns and parts: use fewer fields")
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise CannotFollow(f"column '{key}' would be nested more than {DEPTH_MAX} deep: use flatter types")
        kind, children = self._shape(type)
        self._depth -= 1
        return Wanted(key=key, kind=kind, children=children, name=name, aliases=aliases, doc=doc)

    def _shape(self, type: AvroType) -> tuple[str, tuple[Wanted, ...]]:
        if self.traits.is_empty(type):
            return BOOLEAN, ()
        match type:
            case AvroRecord():
                return (STRING, ()) if self.traits.is_recursive(type) else (STRUCT, self.fields(type))
            case Array():
                return LIST, (self.part("element", type.items),)
            case Map():
                return MAP, (Wanted(key="key", kind=STRING), self.part("value", type.values))
            case Union():
                return self._union(type)
        return scalar_kind(type), ()

    def _union(self, union: Union) -> tuple[str, tuple[Wanted, ...]]:
        branches = [branch for branch in union.branches if branch.kind != "null"]
        match branches:
            case []:
                return BOOLEAN, ()
            case [branch]:
                return self._shape(branch)
        names = [simple_name(branch_key(branch)) for branch in branches]
        return STRUCT, tuple(
            self.part(
                branch_key(branch),
                branch,
                name=name if names.count(name) == 1 else None,
                aliases=branch.aliases if isinstance(branch, Named) else (),
            )
            for branch, name in zip(branches, names, strict=True)
        )
