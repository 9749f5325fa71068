"""Compares types, listed values, strings, numbers and counts: where does the reader allow less than the writer?"""

from collections.abc import Mapping
from typing import Any

from lakestream.contract.registry.comparing import Differences, Incompatibility
from lakestream.contract.registry.json_schema.keywords import Bound, bound_of, exact, types_of, value_key, values_of

Keywords = Mapping[str, Any]


def type_breaks(allowed: frozenset[str], read: Keywords, path: str) -> Differences:
    accepted = types_of({"type": read["type"]} if "type" in read else {})
    missing = [
        one for one in sorted(allowed) if one not in accepted and not (one == "integer" and "number" in accepted)
    ]
    if not missing:
        return []
    why = f"{' or '.join(missing)} may have been written, only {' or '.join(sorted(accepted))} is read"
    return [Incompatibility("TYPE_NARROWED" if len(missing) < len(allowed) else "TYPE_CHANGED", path, why)]


def enum_breaks(written: Keywords, read: Keywords, path: str) -> Differences:
    accepted, listed = values_of(read), values_of(written)
    if accepted is None:
        return []
    if listed is None:
        why = "only listed values are read, and any could be written: leave the list out"
        return [Incompatibility("ENUM_ADDED", f"{path}/enum", why)]
    keys = set(map(value_key, accepted))
    missing = [value for value in listed if value_key(value) not in keys]
    if not missing:
        return []
    shown = ", ".join(f"{value!r:.40}" for value in missing[:10])
    return [
        Incompatibility("ENUM_ARRAY_NARROWED", f"{path}/enum", f"{shown} may have been written: keep it in the list")
    ]


def string_breaks(written: Keywords, read: Keywords, path: str) -> Differences:
    return count_breaks(written, read, path, "Length") + [
        Incompatibility(f"{key.upper()}_CHANGED", f"{path}/{key}", _changed(key, written.get(key), read[key]))
        for key in ("pattern", "format")
        if key in read and read[key] != written.get(key)
    ]


def array_breaks(written: Keywords, read: Keywords, path: str) -> Differences:
    found = count_breaks(written, read, path, "Items")
    if read.get("uniqueItems") and not written.get("uniqueItems"):
        why = "items must be unique to be read, and need not have been"
        found.append(Incompatibility("UNIQUE_ITEMS_ADDED", f"{path}/uniqueItems", why))
    return found


def count_breaks(written: Keywords, read: Keywords, path: str, what: str) -> Differences:
    """Compares minLength and maxLength, or the same for Items or Properties."""
    found = Differences()
    least, most = f"min{what}", f"max{what}"
    if read.get(least, 0) > written.get(least, 0):
        why = _changed(least, written.get(least), read[least])
        found.append(Incompatibility(f"{_upper(least)}_INCREASED", f"{path}/{least}", why))
    if most in read and (most not in written or written[most] > read[most]):
        why = _changed(most, written.get(most), read[most])
        found.append(Incompatibility(f"{_upper(most)}_DECREASED", f"{path}/{most}", why))
    return found


def number_breaks(written: Keywords, read: Keywords, path: str, *, whole: bool) -> Differences:
    """`whole`: only whole numbers were written."""
    found = Differences()
    for inclusive, exclusive, sign in (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1)):
        had, has = bound_of(written, inclusive, exclusive), bound_of(read, inclusive, exclusive)
        if has is not None and not _within(had, has, sign):
            way = "down" if sign > 0 else "up"
            why = f"numbers {way} to {_shown(had)} may have been written, {way} to {_shown(has)} are read"
            found.append(Incompatibility(f"{inclusive.upper()}_NARROWED", f"{path}/{inclusive}", why))
    return found + _multiple_breaks(written, read, path, whole)


def _within(had: Bound | None, has: Bound, sign: int) -> bool:
    if had is None:
        return False
    return sign * had.value > sign * has.value or (had.value == has.value and (had.open or not has.open))


def _multiple_breaks(written: Keywords, read: Keywords, path: str, whole: bool) -> Differences:
    if "multipleOf" not in read:
        return []
    step = written.get("multipleOf", 1 if whole else None)
    if step is not None and (exact(step) / exact(read["multipleOf"])).denominator == 1:
        return []
    why = _changed("multipleOf", written.get("multipleOf"), read["multipleOf"])
    return [Incompatibility("MULTIPLE_OF_CHANGED", f"{path}/multipleOf", why)]


def _changed(keyword: str, had: Any, has: Any) -> str:
    before = "was not set" if had is None else f"was {had!r:.60}"
    return f"'{keyword}' {before} and is {has!r:.60}: values that were written may not be read"


def _shown(bound: Bound | None) -> str:
    return "any number" if bound is None else bound.text


def _upper(keyword: str) -> str:
    """minLength -> MIN_LENGTH"""
    return f"{keyword[:3]}_{keyword[3:]}".upper()
