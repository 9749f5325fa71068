"""A table's column that comes from a contract: its keys in the schema, its name, and its permanent field id."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

Json = dict[str, Any]

_DROPPED = "\x00dropped-"
"""The beginning of the only key of a dropped column. No field of any format has such a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Like `Wanted`, with name and id. `keys` are all keys it ever had: old writers use old ones."""

    keys: tuple[str, ...]
    name: str
    id: int
    kind: str
    children: tuple["Column", ...] = ()
    doc: str = ""

    @property
    def is_dropped(self) -> bool:
        """Whether ALTER TABLE dropped it. Earlier files still have it; no value fills it any more."""
        return self.keys[0].startswith(_DROPPED)

    def dropped(self, name: str) -> "Column":
        """The column as one that was dropped, under a name that leaves its own to others."""
        return replace(self, keys=(f"{_DROPPED}{self.id}",), name=name)

    def child(self, key: str) -> "Column | None":
        return find(self.children, key)

    def walk(self) -> Iterator["Column"]:
        """This column and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def to_json(self) -> Json:
        content: Json = {"keys": list(self.keys), "name": self.name, "id": self.id, "kind": self.kind}
        if self.children:
            content["children"] = [child.to_json() for child in self.children]
        if self.doc:
            content["doc"] = self.doc
        return content

    @classmethod
    def from_json(cls, content: Json) -> "Column":
        return cls(
            keys=tuple(content["keys"]),
            name=content["name"],
            id=content["id"],
            kind=content["kind"],
            children=tuple(cls.from_json(child) for child in content.get("children", ())),
            doc=content.get("doc", ""),
        )


def live(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns, and their parts, without those that were dropped."""
    return tuple(replace(one, children=live(one.children)) for one in columns if not one.is_dropped)


def find(columns: Sequence[Column], key: str) -> Column | None:
    """The column whose current key this is; otherwise one that had it before."""
    for column in columns:
        if column.keys[0] == key:
            return column
    return next((column for column in columns if key in column.keys), None)
