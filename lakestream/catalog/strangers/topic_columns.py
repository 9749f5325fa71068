"""Which changes other engines may make to the columns of a topic's table.

system columns (__offset ...)   stay as they are, in whatever words an engine sends them back
other columns                   are added, renamed, dropped, reordered; a type only becomes one that it is read as
new columns                     are optional, and numbered above the topic's own
"""

import re
from collections.abc import Sequence
from typing import Any

from lakestream.catalog.spec.schema.ids import fields_by_id
from lakestream.catalog.spec.values import Json, Metadata, by_id, wanted, wanted_objects

_SYSTEM_PREFIX = "__"
_FREELY_WORDED = frozenset({"element-required", "value-required", "required", "doc"})
"""Parts of nested types that DuckDB does not keep: it writes every element as optional."""
_PROMOTIONS = frozenset({("int", "long"), ("float", "double")})
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_UNKNOWN = "unknown"


def system_columns_problem(metadata: Metadata, schema: Json) -> str | None:
    """The reason why a table cannot have this schema, or None."""
    before, after = _compared(_current(metadata)), _compared(schema)
    if before != after:
        changed = min(before.keys() ^ after.keys(), default=None) or min(n for n in before if before[n] != after[n])
        return f"'{changed}' begins with '{_SYSTEM_PREFIX}', and such columns belong to the topic"
    return None


def columns_problem(metadata: Metadata, schema: Json) -> str | None:
    """The same for other columns. Records have no values for others' columns, only the topic assigns ids below the last
    one, and a column's files are written in the topic's type whatever the schema says.

    A name with dots is also the name of a nested part. Iceberg's own library rejects a schema in which two such names
    collide, and compaction could then not add its column."""
    known = {id: field for one in (*metadata["schemas"], _current(metadata)) for id, field in fields_by_id(one).items()}
    for id, field in fields_by_id(schema).items():
        if id not in known and id <= metadata["last-column-id"]:
            return f"field id {id} is not above {metadata['last-column-id']}, and may become another column's"
        if "." in (name := field.get("name", "")) and name != known.get(id, {}).get("name"):
            return (
                f"'{name}' has a dot, and could be mistaken for a part of a column that records bring: use another name"
            )
        required = field.get("required") and not known.get(id, {}).get("required")
        if required and field.get("initial-default") is None:
            return f"'{field.get('name')}' would be required, and records have no value for it: make it optional"
        if id in known and not _is_read_as(known[id].get("type"), field.get("type")):
            return (
                f"'{field.get('name', id)}' would change its type, and the topic's files keep theirs: a type may only"
                " become a wider one (int to long, float to double, a decimal of more digits)"
            )
    return None


def with_system_columns(metadata: Metadata, updates: Sequence[Json]) -> list[Json]:
    """The updates with the table's own system columns. They may differ from the client's only in wording."""
    own = {field["id"]: field for field in _system_columns(_current(metadata))}

    def restored(schema: Json) -> Json:
        return {**schema, "fields": [own.get(field["id"], field) for field in schema["fields"]]}

    return [
        {**update, "schema": restored(update["schema"])} if update["action"] == "add-schema" else update
        for update in updates
    ]


def _current(metadata: Metadata) -> Json:
    return by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"]) or {"fields": []}


def _system_columns(schema: Json) -> list[Json]:
    return [
        field for field in wanted_objects(schema, "fields") if wanted(field, "name", str).startswith(_SYSTEM_PREFIX)
    ]


def _compared(schema: Json) -> dict[str, Json]:
    """The parts of each system column that must stay the same."""
    return {
        field["name"]: {"id": field.get("id"), "required": field.get("required"), "type": _bare(field.get("type"))}
        for field in _system_columns(schema)
    }


def _bare(type: Any) -> Any:
    match type:
        case dict():
            return {name: _bare(part) for name, part in type.items() if name not in _FREELY_WORDED}
        case list():
            return [_bare(part) for part in type]
    return type


def _is_read_as(written: Any, shown: Any) -> bool:
    """Whether every reader can read files of type `written` as type `shown`: Iceberg's promotions. Parts of nested
    types are fields of their own."""
    match written, shown:
        case {"type": before}, {"type": after}:
            return bool(before == after)
        case str(), str():
            before, after = written.replace(" ", ""), shown.replace(" ", "")
            return before in (after, _UNKNOWN) or (before, after) in _PROMOTIONS or _has_more_digits(before, after)
    return False


def _has_more_digits(before: str, after: str) -> bool:
    was, now = _DECIMAL.fullmatch(before), _DECIMAL.fullmatch(after)
    return was is not None and now is not None and was[2] == now[2] and int(was[1]) <= int(now[1])
