"""The columns of a contract after an ALTER TABLE, from the fields of the table before and after it.

    added        a column without a key: the format of the values gives it one (avro_schema.py, protobuf_schema.py)
    renamed      the new name and, for values that name their fields, a new key; former keys are still read
    dropped      stays for the files that have it, and no value fills it any more
    widened, described, reordered     as the table says

A column that the table does not show, such as one of a schema of which no record was seen yet, stays as it is. An added
column of its name takes its place.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.from_iceberg import column_of
from lakestream.contract.columns.kinds import LIST, MAP, NESTED, STRUCT, wider
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.columns.naming import column_name

Json = dict[str, Any]


def altered_columns(
    columns: Sequence[Column], before: Sequence[Json], after: Sequence[Json], *, by_name: bool
) -> tuple[Column, ...]:
    """`before` and `after`: fields of the table, without those that are not of values. `by_name`: whether the name of a
    field is its key; otherwise it has a number, which stays. Raises CannotFollow."""
    altered = _Altering(by_name=by_name).fields(columns, before, after, "")
    if not any(not column.is_dropped for column in altered):
        raise CannotFollow("the table would have no columns left, and a topic's values have at least one: keep one")
    return altered


class _Altering:
    def __init__(self, *, by_name: bool) -> None:
        self._by_name = by_name

    def fields(
        self, columns: Sequence[Column], before: Sequence[Json], after: Sequence[Json], path: str
    ) -> tuple[Column, ...]:
        """The columns of a table, or of one struct in it, in the order of `after`."""
        own, was = {column.id: column for column in columns}, {field["id"]: field for field in before}
        there = {field["id"] for field in after}
        hidden = [column for column in columns if column.id not in was and column.id not in there]
        found: list[Column] = []
        for field in after:
            column = own.get(field["id"])
            if column is not None and not column.is_dropped:
                found.append(self._changed(column, was.get(column.id), field, path))
            elif column is not None or field["id"] not in was:
                found.append(self._added(field, hidden, path))
        gone = [column for column in columns if column.id in was and column.id not in there]
        taken = {column.name.lower() for column in (*found, *hidden)}
        for column in gone:
            hidden.append(_dropped(column, taken))
            taken.add(hidden[-1].name.lower())
        altered = (*found, *hidden)
        _check_keys(altered, path)
        return altered

    def _added(self, field: Json, hidden: list[Column], path: str) -> Column:
        """A column that takes the place of the hidden one of its name, if there is one."""
        column = column_of(field, path)
        same = next((one for one in hidden if one.name.lower() == column.name.lower() and not one.is_dropped), None)
        if same is None:
            return _without_keys(column)
        if same.kind != column.kind or column.kind in NESTED or same.name != column.name:
            raise CannotFollow(
                f"the schema of the topic's values has a field '{same.name}' of type {same.kind} already: add the "
                "column with this name and type, or choose another name"
            )
        hidden.remove(same)
        return replace(column, keys=same.keys, doc=column.doc or same.doc)

    def _changed(self, column: Column, was: Json | None, field: Json, path: str) -> Column:
        place = f"{path}{field['name']}"
        if field["name"] != (column.name if was is None else was["name"]):
            column = self._renamed(column, field, path)
        if was is None or (was.get("doc") or "") != (field.get("doc") or ""):
            column = replace(column, doc=field.get("doc") or "")
        return self._typed(column, None if was is None else was["type"], field["type"], place)

    def _renamed(self, column: Column, field: Json, path: str) -> Column:
        name = column_of({**field, "required": False}, path).name
        former = tuple(key for key in column.keys if key != name)
        return replace(column, name=name, keys=(name, *former) if self._by_name else column.keys)

    def _typed(self, column: Column, was: Any, type: Any, place: str) -> Column:
        """The column with the table's type, where that has changed."""
        match type:
            case {"type": "struct", "fields": fields} if column.kind == STRUCT:
                before = was["fields"] if was is not None else []
                return replace(column, children=self.fields(column.children, before, fields, f"{place}."))
            case {"type": "list", "element": element} if column.kind == LIST:
                before = None if was is None else was["element"]
                inner = self._typed(column.children[0], before, element, f"{place}.element")
                return replace(column, children=(inner,))
            case {"type": "map", "key": key, "value": value} if column.kind == MAP:
                before = (None, None) if was is None else (was["key"], was["value"])
                if self._typed(column.children[0], before[0], key, f"{place}.key") != column.children[0]:
                    raise CannotFollow(f"the keys of '{place}' cannot change: add another column")
                inner = self._typed(column.children[1], before[1], value, f"{place}.value")
                return replace(column, children=(column.children[0], inner))
            case str() if column.kind not in NESTED:
                return self._widened(column, was, type.replace(" ", ""), place)
        raise CannotFollow(f"'{place}' would become another kind of column: add one of that type instead")

    def _widened(self, column: Column, was: Any, kind: str, place: str) -> Column:
        if kind in (column.kind, was.replace(" ", "") if isinstance(was, str) else None):
            return column
        if wider(column.kind, kind) != kind:
            raise CannotFollow(
                f"'{place}' is {column.kind} and cannot become {kind}, since records may hold more than that: add "
                "another column"
            )
        return replace(column, kind=kind)


def _dropped(column: Column, taken: set[str]) -> Column:
    return column if column.is_dropped else column.dropped(column_name(f"{column.name}_dropped", taken))


def _without_keys(column: Column) -> Column:
    """A new column, whose parts of structs are new as well."""
    of_struct = column.kind == STRUCT
    children = tuple(_without_keys(child) if of_struct else _parts_without_keys(child) for child in column.children)
    return replace(column, keys=(), children=children)


def _parts_without_keys(part: Column) -> Column:
    """An element, key or value keeps its key, which is the same in every format."""
    return replace(_without_keys(part), keys=part.keys)


def _check_keys(columns: Sequence[Column], path: str) -> None:
    """Two columns that share a key, now or formerly, would take each other's values. Some engines ignore case."""
    names = Counter(column.name.lower() for column in columns)
    if twice := [column.name for column in columns if names[column.name.lower()] > 1]:
        raise CannotFollow(f"'{path}{twice[0]}' and '{path}{twice[-1]}' must differ in more than case: use other names")
    owners: dict[str, Column] = {}
    for column in columns:
        for key in column.keys or (column.name,):
            other = owners.setdefault(key, column)
            if other is not column:
                raise CannotFollow(
                    f"'{path}{key}' is, or was, the name of the column '{path}{other.name}' and of "
                    f"'{path}{column.name}', and records may have values under it: use another name"
                )
