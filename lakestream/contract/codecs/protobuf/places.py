"""Places: which nodes hold the parts of a column, for reading (nodes to Arrow) and writing (Arrow to nodes)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    node: int
    presence: int
    type: int
    """Protobuf's number of the type."""
    enum: Any
    """An enum's descriptor."""

    def renumbered(self, moved: Mapping[int, int]) -> "Scalar":
        return replace(self, node=moved[self.node])


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A Timestamp."""

    node: int
    presence: int
    seconds: int
    nanos: int
    path: str

    def renumbered(self, moved: Mapping[int, int]) -> "Moment":
        return replace(self, node=moved[self.node], seconds=moved[self.seconds], nanos=moved[self.nanos])


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A message as JSON text. It is read, and never written again: rows that have one keep their bytes."""

    node: int
    message: Any

    def renumbered(self, moved: Mapping[int, int]) -> "Text":
        return replace(self, node=moved[self.node])


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtobufStruct:
    node: int
    presence: int
    children: "tuple[Place | None, ...]"
    """One for each child of the column; None if the writer has no field for it."""

    def renumbered(self, moved: Mapping[int, int]) -> "ProtobufStruct":
        children = tuple(child and child.renumbered(moved) for child in self.children)
        return replace(self, node=moved[self.node], children=children)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    node: int
    level: int
    element: "Place"

    def renumbered(self, moved: Mapping[int, int]) -> "Listed":
        return replace(self, node=moved[self.node], element=self.element.renumbered(moved))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    node: int
    level: int
    key: "Place"
    value: "Place"

    def renumbered(self, moved: Mapping[int, int]) -> "Mapped":
        return replace(self, node=moved[self.node], key=self.key.renumbered(moved), value=self.value.renumbered(moved))


Place = Scalar | Moment | Text | ProtobufStruct | Listed | Mapped
