"""Compiles a message type and a layout to a program: tables for the kernels, and places for Arrow.

The layout decides: a field without a column, or with one that cannot hold it, is skipped in reading. It is then missing
when the value is written again, so such rows turn out not to be exact, and their bytes are kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from google.protobuf.descriptor import FieldDescriptor as F  # type: ignore[import-untyped]

from lakestream.contract.codecs.protobuf.kernels import tables as t
from lakestream.contract.codecs.protobuf.kernels.cells import CellTables
from lakestream.contract.codecs.protobuf.places import Listed, Mapped, Moment, Place, ProtobufStruct, Scalar, Text
from lakestream.contract.columns.column import Column, find
from lakestream.contract.columns.from_protobuf import SCALAR_KINDS, TIMESTAMP_MESSAGE, WRAPPERS, is_map
from lakestream.contract.columns.kinds import LIST, MAP, STRING, STRUCT, TIMESTAMPTZ, wider

_WIRES = {
    **dict.fromkeys((F.TYPE_DOUBLE, F.TYPE_FIXED64, F.TYPE_SFIXED64), t.FIXED64),
    **dict.fromkeys((F.TYPE_FLOAT, F.TYPE_FIXED32, F.TYPE_SFIXED32), t.FIXED32),
    **dict.fromkeys((F.TYPE_STRING, F.TYPE_BYTES, F.TYPE_MESSAGE), t.BYTES_FRAME),
}
_OPS = {
    F.TYPE_INT32: t.INT32,
    F.TYPE_ENUM: t.INT32,
    F.TYPE_UINT32: t.UINT32,
    F.TYPE_INT64: t.INT64,
    F.TYPE_UINT64: t.INT64,
    F.TYPE_SINT32: t.ZIGZAG32,
    F.TYPE_SINT64: t.ZIGZAG64,
    F.TYPE_BOOL: t.BOOL,
    F.TYPE_FLOAT: t.FOUR_UNSIGNED,
    F.TYPE_FIXED32: t.FOUR_UNSIGNED,
    F.TYPE_SFIXED32: t.FOUR_SIGNED,
    F.TYPE_DOUBLE: t.EIGHT,
    F.TYPE_FIXED64: t.EIGHT,
    F.TYPE_SFIXED64: t.EIGHT,
    F.TYPE_STRING: t.TEXT,
    F.TYPE_BYTES: t.BYTES,
}
Find = Callable[[str], Column | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtobufProgram:
    tables: CellTables
    node_levels: tuple[int, ...]
    """Nodes of level 0 come first."""
    levels: int
    depth: int
    """The maximum number of messages that can be open at once."""
    places: tuple[Place | None, ...]
    """The place of each column of the layout; None if the writer has no field for it."""
    paths: tuple[str, ...]
    """The paths of the fields, for messages."""


@dataclass(slots=True, kw_only=True)
class _Field:
    """A row of the table of fields, under construction."""

    number: int
    wire: int
    op: int
    path: str
    node: int = t.NONE
    presence: int = t.ALWAYS
    oneof: int = t.NONE
    child: int = t.NONE
    level: int = t.NONE
    count: int = t.NONE
    packed: bool = False


def program_of(message: Any, columns: Sequence[Column]) -> ProtobufProgram:
    making = _Making()
    _, places = making.message(message, lambda key: find(columns, key), 0, "", 1)
    by_key = dict(places)
    return making.finished(tuple(by_key.get(column.id) for column in columns))


class _Making:
    def __init__(self) -> None:
        self._messages: list[list[_Field]] = []
        self._node_levels: list[int] = []
        self._levels = 1
        self._depth = 1

    def finished(self, places: tuple[Place | None, ...]) -> ProtobufProgram:
        order = sorted(range(len(self._node_levels)), key=lambda node: self._node_levels[node])
        moved = {t.NONE: t.NONE} | {old: new for new, old in enumerate(order)}
        levels = tuple(self._node_levels[old] for old in order)
        fields = [field for message in self._messages for field in message]
        ends = np.cumsum([len(message) for message in self._messages])
        widths = np.bincount(np.array(levels, np.int64), minlength=self._levels)
        tables = CellTables(
            messages=np.stack([np.concatenate([[0], ends[:-1]]), ends], axis=1).astype(np.int64),
            fields=np.array([_row(field, moved) for field in fields], np.int64).reshape(-1, t.FIELD_COLUMNS),
            level_widths=widths.astype(np.int64),
        )
        return ProtobufProgram(
            tables=tables,
            node_levels=levels,
            levels=self._levels,
            depth=self._depth + 1,
            places=tuple(place and place.renumbered(moved) for place in places),
            paths=tuple(field.path for field in fields),
        )

    def message(
        self, message: Any, find: Find, level: int, path: str, depth: int
    ) -> tuple[int, list[tuple[int, Place]]]:
        """The message's number, and places by the ids of their columns."""
        self._depth = max(self._depth, depth)
        number, fields, places = self._new_message(), list[_Field](), list[tuple[int, Place]]()
        oneofs: dict[str, int] = {}
        for descriptor in sorted(message.fields, key=lambda one: int(one.number)):
            column = find(str(descriptor.number))
            made = column and self._field(descriptor, column, level, f"{path}{descriptor.name}", depth)
            if column is None or not made:
                continue
            field, place = made
            oneof = descriptor.containing_oneof
            if oneof is not None and len(oneof.fields) > 1:
                if oneof.name not in oneofs:
                    oneofs[oneof.name] = self._new_node(level)
                field.oneof = oneofs[oneof.name]
            fields.append(field)
            places.append((column.id, place))
        self._messages[number] = fields
        return number, places

    def _field(self, field: Any, column: Column, level: int, path: str, depth: int) -> tuple[_Field, Place] | None:
        if is_map(field):
            return self._map(field, column, level, path, depth) if column.kind == MAP else None
        if field.is_repeated:
            return self._list(field, column, level, path, depth) if column.kind == LIST else None
        return self._one(field, column, level, path, depth, t.EXPLICIT if field.has_presence else t.IMPLICIT)

    def _list(self, field: Any, column: Column, level: int, path: str, depth: int) -> tuple[_Field, Place] | None:
        inner = self._new_level()
        made = self._one(field, column.children[0], inner, path, depth, t.ALWAYS)
        if made is None:
            return None
        row, element = made
        row.level, row.count, row.packed = inner, self._new_node(level), bool(field.is_packed)
        return row, Listed(node=row.count, level=inner, element=element)

    def _map(self, field: Any, column: Column, level: int, path: str, depth: int) -> tuple[_Field, Place] | None:
        inner, entries = self._new_level(), self._new_message()
        self._depth = max(self._depth, depth + 1)
        key, value = sorted(field.message_type.fields, key=lambda one: int(one.number))
        made = (
            self._one(key, column.children[0], inner, f"{path}.key", depth + 1, t.ALWAYS),
            self._one(value, column.children[1], inner, f"{path}.value", depth + 1, t.ALWAYS),
        )
        if made[0] is None or made[1] is None:
            return None
        self._messages[entries] = [made[0][0], made[1][0]]
        row = _Field(number=field.number, wire=t.BYTES_FRAME, op=t.MESSAGE, path=path, child=entries, level=inner)
        row.count = self._new_node(level)
        return row, Mapped(node=row.count, level=inner, key=made[0][1], value=made[1][1])

    def _one(
        self, field: Any, column: Column, level: int, path: str, depth: int, presence: int
    ) -> tuple[_Field, Place] | None:
        """The row and place of the field, or of one element of it."""
        if field.message_type is None:
            return self._scalar(field, column, level, path, presence)
        row = _Field(number=field.number, wire=t.BYTES_FRAME, op=t.MESSAGE, path=path, presence=presence)
        if presence == t.EXPLICIT or column.kind == STRING:
            row.node = self._new_node(level)
        return self._message_field(row, field.message_type, column, level, depth)

    def _message_field(
        self, row: _Field, message: Any, column: Column, level: int, depth: int
    ) -> tuple[_Field, Place] | None:
        if message.full_name == TIMESTAMP_MESSAGE and column.kind == TIMESTAMPTZ:
            return self._moment(row, level, depth)
        if message.full_name in WRAPPERS and column.kind != STRUCT:
            return self._wrapper(row, message, column, level, depth)
        if column.kind == STRING:
            row.op = t.JSON
            return row, Text(node=row.node, message=message)
        if column.kind != STRUCT:
            return None
        row.child, places = self.message(message, column.child, level, f"{row.path}.", depth + 1)
        by_id = dict(places)
        children = tuple(by_id.get(child.id) for child in column.children)
        return row, ProtobufStruct(node=row.node, presence=row.presence, children=children)

    def _scalar(self, field: Any, column: Column, level: int, path: str, presence: int) -> tuple[_Field, Scalar] | None:
        if wider(SCALAR_KINDS[field.type], column.kind) != column.kind:
            return None
        row = _Field(
            number=field.number,
            wire=_WIRES.get(field.type, t.VARINT),
            op=_OPS[field.type],
            path=path,
            node=self._new_node(level),
            presence=presence,
        )
        return row, Scalar(node=row.node, presence=presence, type=field.type, enum=field.enum_type)

    def _wrapper(
        self, row: _Field, message: Any, column: Column, level: int, depth: int
    ) -> tuple[_Field, Place] | None:
        """A wrapper message is present or not, and the number in it has a default. Both share a node."""
        made = self._scalar(message.fields[0], column, level, row.path, t.IMPLICIT)
        if made is None:
            return None
        inner, place = made
        if row.node != t.NONE:
            inner.node = row.node
        row.node = row.node if row.presence == t.EXPLICIT else t.NONE
        row.child = self._with_fields([inner], depth)
        return row, replace(place, node=inner.node, presence=row.presence)

    def _moment(self, row: _Field, level: int, depth: int) -> tuple[_Field, Place]:
        parts = {
            name: _Field(
                number=number, wire=t.VARINT, op=op, path=f"{row.path}.{name}", node=self._new_node(level),
                presence=t.IMPLICIT,
            )
            for name, number, op in (("seconds", 1, t.INT64), ("nanos", 2, t.INT32))
        }  # fmt: skip
        row.child = self._with_fields(list(parts.values()), depth)
        seconds, nanos = parts["seconds"].node, parts["nanos"].node
        return row, Moment(node=row.node, presence=row.presence, seconds=seconds, nanos=nanos, path=row.path)

    def _with_fields(self, fields: list[_Field], depth: int) -> int:
        self._depth = max(self._depth, depth + 1)
        number = self._new_message()
        self._messages[number] = fields
        return number

    def _new_message(self) -> int:
        self._messages.append([])
        return len(self._messages) - 1

    def _new_node(self, level: int) -> int:
        self._node_levels.append(level)
        return len(self._node_levels) - 1

    def _new_level(self) -> int:
        self._levels += 1
        return self._levels - 1


def _row(field: _Field, moved: dict[int, int]) -> list[int]:
    return [
        field.number,
        field.wire,
        field.op,
        moved[field.node],
        field.presence,
        moved[field.oneof],
        field.child,
        field.level,
        moved[field.count],
        int(field.packed),
    ]
