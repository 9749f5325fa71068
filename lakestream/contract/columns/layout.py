"""The layout: all columns that a topic's contract ever gave its table, with ids that are never reused.

    layout = layout.merged(wanted)        # columns of values
    layout = layout.merged_keys(wanted)   # columns of keys; both grow, or raise CannotFollow, and nothing has changed

Keys have columns of their own, never confused with a field of values, whatever that is called in its schema. Column
ids and names are unique over both, so that all columns can stand in one table.

A property of the table keeps the layout, and so does every file that has such columns. Ids are counted from 1; columns
that engines add to the table are numbered far above (see storage/tablefile/format/columns.py), so the two never meet.
If a schema drops a field, its column stays; a field that comes back gets it again.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lakestream.contract.columns.column import Column, find
from lakestream.contract.columns.json_text import holds_json_text
from lakestream.contract.columns.kinds import MAP, NESTED, STRING, STRUCT, wider
from lakestream.contract.columns.matching import matched
from lakestream.contract.columns.naming import column_name
from lakestream.contract.columns.wanted import Wanted

VERSION = 1
VERSION_WITH_KEYS = 2
"""The version of a layout that has columns of keys. A layout without them is still written as version 1."""
NODES_MAX = 2_000
"""Columns with all their parts. Engines and Parquet get slow long before this."""


class CannotFollow(ValueError):
    """The table cannot have these columns; the message says which one and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    columns: tuple[Column, ...] = ()
    """Columns of values."""
    key_columns: tuple[Column, ...] = ()
    """Columns of keys."""
    next_id: int = 1

    @property
    def all_columns(self) -> tuple[Column, ...]:
        return self.columns + self.key_columns

    def merged(self, wanted: Sequence[Wanted]) -> "Layout":
        """The layout with all `wanted` columns. The same layout if it has all of them already."""
        growing = _Growing(self.next_id)
        columns = growing.fields(self.columns, wanted, "", taken=self.key_columns)
        return self if columns == self.columns else _checked(replace(self, columns=columns, next_id=growing.next_id))

    def merged_keys(self, wanted: Sequence[Wanted]) -> "Layout":
        """`merged` for the columns of keys."""
        growing = _Growing(self.next_id)
        columns = growing.fields(self.key_columns, wanted, "", taken=self.columns)
        if columns == self.key_columns:
            return self
        return _checked(replace(self, key_columns=columns, next_id=growing.next_id))

    def with_columns(self, columns: tuple[Column, ...]) -> "Layout":
        """The layout with other columns of values. Raises CannotFollow if they are too many."""
        return _checked(replace(self, columns=columns))

    def column(self, key: str) -> Column | None:
        return find(self.columns, key)

    def key_column(self, key: str) -> Column | None:
        return find(self.key_columns, key)

    def to_text(self) -> str:
        content = {"version": VERSION, "next-id": self.next_id, "columns": [one.to_json() for one in self.columns]}
        if self.key_columns:
            content |= {"version": VERSION_WITH_KEYS, "key-columns": [one.to_json() for one in self.key_columns]}
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> "Layout":
        content = json.loads(text)
        if content["version"] not in (VERSION, VERSION_WITH_KEYS):
            raise ValueError(f"the layout is of version {content['version']}: a newer Lakestream reads it")
        return cls(
            columns=tuple(map(Column.from_json, content["columns"])),
            key_columns=tuple(map(Column.from_json, content.get("key-columns", ()))),
            next_id=content["next-id"],
        )


def _checked(layout: Layout) -> Layout:
    if sum(1 for column in layout.all_columns for _ in column.walk()) > NODES_MAX:
        raise CannotFollow(f"the table would have more than {NODES_MAX:,} columns and parts: use fewer fields")
    return layout


class _Growing:
    """The state of one merge: assigns ids."""

    def __init__(self, next_id: int) -> None:
        self.next_id = next_id

    def fields(
        self, present: tuple[Column, ...], wanted: Sequence[Wanted], path: str, taken: tuple[Column, ...] = ()
    ) -> tuple[Column, ...]:
        """`taken`: sibling columns whose names must not be reused."""
        columns = list(present)
        names = {column.name.lower() for column in (*columns, *taken)}
        matches = matched(present, [(one.key, *one.aliases) for one in wanted])
        for one, found in zip(wanted, matches, strict=True):
            if found is None:
                columns.append(self.new(one, names))
                names.add(columns[-1].name.lower())
            else:
                at = columns.index(found)
                columns[at] = self.grown(found, one, names, f"{path}{one.name or one.key}")
                names.discard(found.name.lower())
                names.add(columns[at].name.lower())
        return tuple(columns)

    def grown(self, column: Column, wanted: Wanted, taken: set[str], path: str) -> Column:
        if wanted.key not in column.keys:  # an older version, with a former key, does not change the name back
            column = _renamed(column, wanted, taken)
        if wanted.as_it_is and _is_text_of_the_other(column, wanted):
            return column
        doc = wanted.doc or column.doc
        if wanted.kind not in NESTED or column.kind not in NESTED:
            kind = None if NESTED & {wanted.kind, column.kind} else wider(column.kind, wanted.kind)
            if kind is None:
                raise CannotFollow(f"column '{path}' is {column.kind} and cannot become {wanted.kind}")
            return replace(column, kind=kind, doc=doc)
        if wanted.kind != column.kind:
            raise CannotFollow(f"column '{path}' is a {column.kind} and cannot become a {wanted.kind}")
        return replace(column, children=self._grown_children(column, wanted, path), doc=doc)

    def _grown_children(self, column: Column, wanted: Wanted, path: str) -> tuple[Column, ...]:
        if column.kind == STRUCT:
            return self.fields(column.children, wanted.children, f"{path}.")
        if column.kind == MAP and column.children[0].kind != wanted.children[0].kind:
            raise CannotFollow(f"the keys of '{path}' are {column.children[0].kind} and cannot change")
        pairs = zip(column.children, wanted.children, strict=True)
        return tuple(self.grown(own, other, set(), f"{path}.{own.name}") for own, other in pairs)

    def new(self, wanted: Wanted, taken: set[str]) -> Column:
        id = self.next_id
        self.next_id += 1
        children: list[Column] = []
        for child in wanted.children:
            children.append(self.new(child, {one.name.lower() for one in children}))
        return Column(
            keys=(wanted.key,),
            name=column_name(wanted.name or wanted.key, taken),
            id=id,
            kind=wanted.kind,
            children=tuple(children),
            doc=wanted.doc,
        )


def _is_text_of_the_other(column: Column, wanted: Wanted) -> bool:
    """Whether one of them is JSON text and the other has parts."""
    if wanted.kind in NESTED:
        return holds_json_text(column)
    return wanted.kind == STRING and column.kind in NESTED


def _renamed(column: Column, wanted: Wanted, taken: set[str]) -> Column:
    name = column_name(wanted.name or wanted.key, taken - {column.name.lower()})
    return replace(column, keys=(wanted.key, *column.keys), name=name)
