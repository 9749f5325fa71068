"""Compiles a schema and a layout to the program that the kernels follow.

    program = compiled(schema type, layout)

Each type of the schema becomes an instruction and, except for those that only steer, a node: the column or part that it
fills. If the layout has no column for a type, or one of a kind that cannot hold it, the type still gets a node, whose
values are dropped: the rest of the row can be read, but the columns cannot give the bytes back (`lossy`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lakestream.contract.codecs.avro.instructions import Instructions, Symbols
from lakestream.contract.codecs.avro.kernels import ops
from lakestream.contract.codecs.avro.kernels.decimals import DECIMAL_BYTES
from lakestream.contract.codecs.avro.kernels.nodes import NODE_CELLS
from lakestream.contract.codecs.avro.kernels.ops import MICROS_IN_MILLI
from lakestream.contract.codecs.avro.program import ROWS, AvroProgram, Node
from lakestream.contract.codecs.avro.skipping import Skipping
from lakestream.contract.columns.avro_traits import Traits
from lakestream.contract.columns.column import Column, find
from lakestream.contract.columns.from_avro import (
    DEPTH_MAX,
    ROOT_KEY,
    branch_key,
    has_own_columns,
    only_branch,
    scalar_kind,
)
from lakestream.contract.columns.kinds import (
    BINARY,
    BOOLEAN,
    DATE,
    DECIMAL_DIGITS_MAX,
    DOUBLE,
    FLOAT,
    INT,
    LIST,
    MAP,
    STRING,
    STRUCT,
    TIMESTAMP,
    TIMESTAMPTZ,
    decimal_digits,
    wider,
)
from lakestream.contract.columns.layout import NODES_MAX, CannotFollow, Layout
from lakestream.contract.columns.matching import matched
from lakestream.contract.registry.avro.types import (
    Array,
    AvroRecord,
    AvroType,
    Enum,
    Fixed,
    Map,
    Named,
    Primitive,
    Union,
)

INT32_RANGE = (-(2**31), 2**31 - 1)
INT64_RANGE = (-(2**63), 2**63 - 1)
MILLIS_RANGE = (-(2**63 // MICROS_IN_MILLI), (2**63 - 1) // MICROS_IN_MILLI)
_WIDTHS = {INT: 4, FLOAT: 4, DATE: 4}
_MASK64 = 2**64 - 1


def compiled(root: AvroType, layout: Layout) -> AvroProgram:
    """Raises CannotFollow for a schema with more fields, or deeper ones, than a layout can have."""
    return _Compiling(root).program(layout)


@dataclass(slots=True)
class _Place:
    """Where a type stands: its column, its level, and its branch numbers if a union is around it."""

    column: Column | None
    level: int
    always: bool
    path: str
    value_branch: int = -1
    null_branch: int = -1


class _Compiling:
    def __init__(self, root: AvroType) -> None:
        self._root = root
        self._traits = Traits(root)
        self._instructions = Instructions()
        self._symbols = Symbols()
        self._skipping = Skipping(self._instructions, self._traits)
        self._nodes: list[Node] = []
        self._columns: dict[int, int] = {}
        self._levels = 1
        self._depth = 0
        self._lossy = False

    def program(self, layout: Layout) -> AvroProgram:
        if has_own_columns(self._root, self._traits):
            assert isinstance(self._root, AvroRecord)
            self._fields(self._root, layout.columns, ROWS, True, "")
        else:
            column = find(layout.columns, ROOT_KEY)
            self._type(self._root, _Place(column=column, level=ROWS, always=True, path=ROOT_KEY))
        self._instructions.emit(ops.END, "")
        self._skipping.link()
        symbols, symbol_starts, ranks = self._symbols.tables()
        return AvroProgram(
            ops=self._instructions.table(),
            nodes=self._nodes,
            paths=self._instructions.paths,
            columns=self._columns,
            levels=self._levels,
            lossy=self._lossy,
            symbols=symbols,
            symbol_starts=symbol_starts,
            ranks=ranks,
        )

    def _value(self, op: int, place: _Place, node: Node, *, a: int = 0, b: int = 0, c: int = 0) -> int:
        if len(self._nodes) == NODES_MAX:  # no layout has that many; a small schema may unfold to billions
            raise CannotFollow(f"the schema has more than {NODES_MAX:,} fields and parts: use fewer fields")
        at = self._instructions.emit(op, place.path, a=a, b=b, c=c)
        cells = self._instructions.cells[at]
        cells[ops.NODE] = len(self._nodes) * NODE_CELLS
        cells[ops.LEVEL], cells[ops.VALUE_BRANCH], cells[ops.NULL_BRANCH] = (
            place.level,
            place.value_branch,
            place.null_branch,
        )
        if place.column is None:
            self._lossy = True
        else:
            self._columns[place.column.id] = len(self._nodes)
        self._nodes.append(node)
        return at

    # --- types ---------------------------------------------------------------------------------

    def _fields(self, record: AvroRecord, columns: Sequence[Column], level: int, always: bool, path: str) -> None:
        fields = [one for one in record.fields if not self._traits.is_empty(one.type)]
        found = matched(columns, [(one.name, *one.aliases) for one in fields])
        for one, column in zip(fields, found, strict=True):
            self._type(one.type, _Place(column=column, level=level, always=always, path=f"{path}{one.name}"))

    def _type(self, type: AvroType, place: _Place) -> None:
        self._depth += 1
        if self._depth > 2 * DEPTH_MAX:  # a union and the type in it are two
            raise CannotFollow(f"field '{place.path[:80]}' is nested too deep: use flatter types")
        self._any_type(type, place)
        self._depth -= 1

    def _any_type(self, type: AvroType, place: _Place) -> None:
        if isinstance(type, Union):
            self._union(type, place)
        elif type.kind == "null":
            self._null(place)
        elif self._traits.is_empty(type):
            place = _within(place, BOOLEAN)
            self._value(ops.PRESENT, place, Node(level=place.level, always=place.always, bits=True))
        else:
            self._with_bytes(type, place)

    def _with_bytes(self, type: AvroType, place: _Place) -> None:
        match type:
            case AvroRecord() if self._traits.is_recursive(type):
                self._text(type, place)
            case AvroRecord():
                place = _within(place, STRUCT)
                at = self._value(ops.STRUCT, place, Node(level=place.level, always=place.always))
                children = place.column.children if place.column else ()
                self._fields(type, children, place.level, place.always, f"{place.path}.")
                self._instructions.ends(at)
            case Array():
                place = _within(place, LIST)
                self._list(place, [("element", type.items)])
            case Map():
                place = _within(place, MAP)
                self._list(place, [("key", Primitive(kind="string")), ("value", type.values)])
            case Enum():
                place = _within(place, STRING)
                node = Node(level=place.level, always=place.always, offsets=True)
                self._value(ops.ENUM, place, node, a=self._symbols.place(type), b=len(type.symbols))
            case Fixed() | Primitive():
                self._scalar(type, _within(place, scalar_kind(type)))

    def _null(self, place: _Place) -> None:
        """A null takes no bytes and has no value; its column stays empty."""
        place = _within(place, BOOLEAN)
        node = Node(level=place.level, always=False, bits=True)
        self._value(ops.NOTHING, place, node)

    def _union(self, union: Union, place: _Place) -> None:
        kinds = [branch.kind for branch in union.branches]
        null_branch = kinds.index("null") if "null" in kinds else -1
        always = place.always and null_branch < 0
        only = only_branch(union)
        if only is None:
            self._branches(union, place, always, null_branch)
            return
        value_branch = union.branches.index(only)
        inner = _Place(place.column, place.level, always, place.path, value_branch, null_branch)
        self._type(only, inner)

    def _branches(self, union: Union, place: _Place, always: bool, null_branch: int) -> None:
        others = [branch for branch in union.branches if branch.kind != "null"]
        place = _within(place, STRUCT if others else BOOLEAN)
        place.null_branch = null_branch
        at = self._value(
            ops.UNION, place, Node(level=place.level, always=always, bits=not others), a=len(union.branches)
        )
        jumps = [self._instructions.emit(ops.JUMP, place.path) for _ in union.branches]
        keys = [(branch_key(one), *(one.aliases if isinstance(one, Named) else ())) for one in others]
        columns = iter(matched(place.column.children if place.column else (), keys))
        leaving = []
        for branch, jump in zip(union.branches, jumps, strict=True):
            self._instructions.ends(jump)
            if branch.kind != "null":
                path = f"{place.path}.{branch_key(branch)}"
                self._type(branch, _Place(column=next(columns), level=place.level, always=False, path=path))
            leaving.append(self._instructions.emit(ops.JUMP, place.path))
        for one in (at, *leaving):
            self._instructions.ends(one)

    def _list(self, place: _Place, items: list[tuple[str, AvroType]]) -> None:
        level = self._levels
        self._levels += 1
        node = Node(level=place.level, always=place.always, offsets=True, item_level=level)
        at = self._value(ops.LIST, place, node)
        for key, type in items:
            column = place.column.child(key) if place.column else None
            self._type(type, _Place(column=column, level=level, always=True, path=f"{place.path}.{key}"))
        smallest = min(1, sum(not self._traits.is_empty(type) for _, type in items))
        following = self._instructions.emit(ops.NEXT, place.path, a=at + 1, b=smallest)
        for cell in (ops.NODE, ops.LEVEL):
            self._instructions.cells[following][cell] = self._instructions.cells[at][cell]
        self._instructions.ends(at)

    # --- scalars -------------------------------------------------------------------------------

    def _scalar(self, type: Primitive | Fixed, place: _Place) -> None:
        kind = scalar_kind(type)
        size = type.size if isinstance(type, Fixed) else -1
        if decimal_digits(kind):
            self._decimal(place, kind, size)
        elif kind in (STRING, BINARY):
            op = ops.STRING if kind == STRING else ops.BYTES
            self._value(op, place, Node(level=place.level, always=place.always, offsets=True), a=size)
        elif size >= 0:
            self._value(ops.FIXED, place, Node(level=place.level, always=place.always, width=size), a=size)
        elif type.kind == "boolean":
            self._value(ops.BOOLEAN, place, Node(level=place.level, always=place.always, bits=True))
        elif type.kind in ("float", "double"):
            self._float(place, type.kind)
        else:
            assert isinstance(type, Primitive)
            self._number(type, place, kind)

    def _decimal(self, place: _Place, kind: str, size: int) -> None:
        digits, _ = decimal_digits(place.column.kind if place.column else kind) or (DECIMAL_DIGITS_MAX, 0)
        node = Node(level=place.level, always=place.always, width=DECIMAL_BYTES)
        self._value(ops.DECIMAL, place, node, a=size, b=10**digits >> 64, c=10**digits & _MASK64)

    def _float(self, place: _Place, kind: str) -> None:
        wide = place.column is not None and place.column.kind == DOUBLE
        op = ops.DOUBLE if kind == "double" else ops.FLOAT_AS_DOUBLE if wide else ops.FLOAT
        width = 4 if op == ops.FLOAT else 8
        self._value(op, place, Node(level=place.level, always=place.always, width=width))

    def _number(self, type: Primitive, place: _Place, kind: str) -> None:
        width = _WIDTHS.get(place.column.kind if place.column else kind, 8)
        node = Node(level=place.level, always=place.always, width=width)
        millis = kind in (TIMESTAMP, TIMESTAMPTZ) and type.logical is not None and type.logical.name.endswith("-millis")
        if millis:
            least, greatest = MILLIS_RANGE
        else:
            least, greatest = INT32_RANGE if type.kind == "int" else INT64_RANGE
        if (least, greatest) == INT64_RANGE:
            self._value(ops.LONG, place, node)
        else:
            op = ops.NUMBER4 if width == 4 else ops.NUMBER8
            self._value(op, place, node, a=least, b=greatest, c=MICROS_IN_MILLI if millis else 1)

    # --- types that contain themselves ---------------------------------------------------------

    def _text(self, type: AvroRecord, place: _Place) -> None:
        place = _within(place, STRING)
        node = Node(level=place.level, always=place.always, offsets=True, text=type)
        self._skipping.call(self._value(ops.TEXT, place, node), type)
        self._lossy = True


def _within(place: _Place, kind: str) -> _Place:
    """The place, without its column if that cannot hold the kind."""
    if place.column is not None and wider(place.column.kind, kind) != place.column.kind:
        return _Place(None, place.level, place.always, place.path, place.value_branch, place.null_branch)
    return place
