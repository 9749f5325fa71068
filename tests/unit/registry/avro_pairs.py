"""Random Avro schemas, their random evolutions, and data: for holding our rules against fastavro's reader.

The data stay clear of two places where fastavro does less than the specification: it takes the first branch of a union
that may fit, and it promotes bytes to string, so bytes here are UTF-8.
"""

import itertools
from typing import Any

from hypothesis import strategies as st

Json = Any

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_DEFAULTS: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "int": 7,
    "long": 2**40,
    "float": 1.5,
    "double": -2.5,
    "bytes": "ab",
    "string": "text",
}


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3, names: "itertools.count[int] | None" = None) -> Json:
    names = names or itertools.count()
    leaves = st.sampled_from(PRIMITIVES)
    if depth == 0:
        return draw(leaves)
    match draw(st.sampled_from(["leaf", "leaf", "record", "record", "enum", "fixed", "array", "map", "union"])):
        case "leaf":
            return draw(leaves)
        case "record":
            count = draw(st.integers(0, 4))
            fields = [{"name": f"f{n}", "type": draw(schemas(depth - 1, names))} for n in range(count)]
            return {"type": "record", "name": f"R{next(names)}", "fields": fields}
        case "enum":
            symbols = draw(st.lists(st.sampled_from("ABCDE"), min_size=1, unique=True))
            return {"type": "enum", "name": f"E{next(names)}", "symbols": symbols}
        case "fixed":
            return {"type": "fixed", "name": f"F{next(names)}", "size": draw(st.integers(0, 4))}
        case "array":
            return {"type": "array", "items": draw(schemas(depth - 1, names))}
        case "map":
            return {"type": "map", "values": draw(schemas(depth - 1, names))}
    kinds = draw(st.lists(st.sampled_from(PRIMITIVES), min_size=1, max_size=3, unique=True))
    named = draw(schemas(depth - 1, names))
    return [*kinds, named] if isinstance(named, dict) and "name" in named else kinds


@st.composite
def evolved(draw: st.DrawFn, schema: Json) -> Json:
    """Often the same, sometimes changed a little, compatibly or not."""
    change = draw(st.integers(0, 9))
    match schema:
        case str():
            if change == 0:
                return draw(st.sampled_from(PRIMITIVES))
            return draw(st.permutations([schema, "null"])) if change == 1 and schema != "null" else schema
        case list():
            kept = [draw(evolved(one)) if isinstance(one, dict) else one for one in schema]
            if change == 0 and len(kept) > 1:
                kept.pop(draw(st.integers(0, len(kept) - 1)))
            if change == 1:
                kept += [kind for kind in ("string", "double") if kind not in kept]
            if change == 2:
                kept = draw(st.permutations(kept))
            return kept if change != 3 else kept[0]
    match schema["type"]:
        case "array":
            return {**schema, "items": draw(evolved(schema["items"]))}
        case "map":
            return {**schema, "values": draw(evolved(schema["values"]))}
        case "enum":
            return draw(_evolved_enum(schema, change))
        case "fixed":
            return {**schema, "size": schema["size"] + (change == 0)}
        case "record":
            return draw(_evolved_record(schema, change))
    return schema


@st.composite
def _evolved_enum(draw: st.DrawFn, schema: Json, change: int) -> Json:
    symbols = draw(st.lists(st.sampled_from("ABCDE"), min_size=1, unique=True)) if change < 4 else schema["symbols"]
    return {**schema, "symbols": symbols, **({"default": symbols[0]} if change % 2 else {})}


@st.composite
def _evolved_record(draw: st.DrawFn, schema: Json, change: int) -> Json:
    fields = [{**field, "type": draw(evolved(field["type"]))} for field in schema["fields"]]
    if change in (0, 1) and fields:
        fields.pop(draw(st.integers(0, len(fields) - 1)))
    if change in (1, 2):
        kind = draw(st.sampled_from(PRIMITIVES))
        default = {"default": _DEFAULTS[kind]} if draw(st.booleans()) else {}
        fields.append({"name": "added", "type": kind, **default})
    if change == 3 and fields:
        fields[0] = {**fields[0], "name": "renamed", "aliases": [fields[0]["name"]]}
    if change == 4:
        fields = draw(st.permutations(fields))
    renamed = {"name": "Renamed" + schema["name"], "aliases": [schema["name"]]} if change == 5 else {}
    return {**schema, **renamed, "fields": list(fields)}


def data(schema: Json) -> st.SearchStrategy[Any]:
    match schema:
        case list():
            return st.one_of([data(one) for one in schema])
        case str():
            return _PRIMITIVE_DATA[schema]
    match schema["type"]:
        case "array":
            return st.lists(data(schema["items"]), max_size=3)
        case "map":
            return st.dictionaries(st.text(max_size=3), data(schema["values"]), max_size=3)
        case "enum":
            return st.sampled_from(schema["symbols"])
        case "fixed":
            # UTF-8 too: in a union fastavro may write them as bytes, which it may read as a string.
            return st.binary(min_size=schema["size"], max_size=schema["size"]).map(
                lambda drawn: bytes(b & 127 for b in drawn)
            )
    return st.fixed_dictionaries({field["name"]: data(field["type"]) for field in schema["fields"]})


_PRIMITIVE_DATA: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False, allow_infinity=False),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "bytes": st.text(max_size=4).map(str.encode),
    "string": st.text(max_size=4),
}
