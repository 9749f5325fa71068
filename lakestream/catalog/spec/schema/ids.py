"""Field ids of a schema: fresh ones for a new table, and which ids a schema uses.

    id 1, address struct<street, city>, tags list<string>
    -> id=1 address=2 tags=3, then inside: street=4 city=5, tags' element=6

Fields of one struct are numbered together before anything inside them. Iceberg's own library uses this order, and
engines that create a table expect it.
"""

from collections.abc import Callable, Iterator
from typing import Any

from lakestream.catalog.spec.values import Json, shown, wanted, wanted_ids, wanted_objects
from lakestream.model.table_errors import InvalidTableChange


def with_fresh_ids(schema: Json) -> tuple[Json, dict[int, int]]:
    """The schema numbered from 1, and the new id of each old one. Raises InvalidTableChange."""
    field_ids(schema)
    fresh_of: dict[int, int] = {}

    def fresh(old: int) -> int:
        fresh_of[old] = len(fresh_of) + 1
        return fresh_of[old]

    numbered = _numbered_struct(schema, fresh)
    if "identifier-field-ids" in schema:
        identifiers = wanted_ids(schema, "identifier-field-ids")
        numbered["identifier-field-ids"] = [mapped(fresh_of, id, "identifier field") for id in identifiers]
    return numbered, fresh_of


def mapped(fresh_of: dict[int, int], id: int, what: str) -> int:
    if id not in fresh_of:
        raise InvalidTableChange(f"the schema has no field {id}, which a {what} names")
    return fresh_of[id]


def field_ids(schema: Json) -> list[int]:
    """Every id in the schema, including nested ones. Raises InvalidTableChange if one is used twice."""
    found = list(_ids_in(schema))
    if len(set(found)) != len(found):
        raise InvalidTableChange("the schema uses a field id twice: give every field its own")
    return found


def fields_by_id(schema: Json) -> dict[int, Json]:
    """The schema's fields by id, including those of nested structs. Elements, keys and values of lists and maps are
    fields without a name."""
    return {field["id"]: field for field in _fields_in(schema)}


def ids_of_one_value(struct: Json) -> Iterator[int]:
    """The ids of fields that have one value in each row: those outside of lists and maps."""
    for field in wanted_objects(struct, "fields"):
        yield wanted(field, "id", int)
        if isinstance(field.get("type"), dict) and field["type"].get("type") == "struct":
            yield from ids_of_one_value(field["type"])


def _numbered_struct(struct: Json, fresh: Callable[[int], int]) -> Json:
    fields = wanted_objects(struct, "fields")
    ids = [fresh(wanted(field, "id", int)) for field in fields]
    return {
        **struct,
        "fields": [
            {**field, "id": id, "type": _numbered(field.get("type"), fresh)}
            for field, id in zip(fields, ids, strict=True)
        ],
    }


def _numbered(type: Any, fresh: Callable[[int], int]) -> Any:
    match type:
        case {"type": "struct"}:
            return _numbered_struct(type, fresh)
        case {"type": "list", "element-id": int(old), "element": element}:
            id = fresh(old)
            return {**type, "element-id": id, "element": _numbered(element, fresh)}
        case {"type": "map", "key-id": int(old_key), "key": key, "value-id": int(old_value), "value": value}:
            key_id, value_id = fresh(old_key), fresh(old_value)
            return {
                **type,
                "key-id": key_id,
                "key": _numbered(key, fresh),
                "value-id": value_id,
                "value": _numbered(value, fresh),
            }
        case str():
            return type
        case _:
            raise InvalidTableChange(f"{shown(type)} is no type of a column")


def _ids_in(schema: Json) -> Iterator[int]:
    return (field["id"] for field in _fields_in(schema))


def _fields_in(struct: Json) -> Iterator[Json]:
    for field in wanted_objects(struct, "fields"):
        wanted(field, "id", int)
        yield field
        yield from _fields_inside(field.get("type"))


def _fields_inside(type: Any) -> Iterator[Json]:
    match type:
        case {"type": "struct"}:
            yield from _fields_in(type)
        case {"type": "list"}:
            yield from _nested(type, "element")
        case {"type": "map"}:
            yield from _nested(type, "key")
            yield from _nested(type, "value")
        case str():
            return
        case _:
            raise InvalidTableChange(f"{shown(type)} is no type of a column")


def _nested(type: Json, part: str) -> Iterator[Json]:
    yield {"id": wanted(type, f"{part}-id", int), "type": type.get(part)}
    yield from _fields_inside(type.get(part))
