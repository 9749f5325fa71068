"""Names of columns: the schema's names if engines accept them, otherwise the nearest name that they accept.

A name is chosen once and recorded in the layout, so that it never changes by itself.
"""

from collections.abc import Collection

NAME_CHARACTERS_MAX = 255
_ODD = str.maketrans(dict.fromkeys(".`\"'/\\;:(){}[]<>=,\t\n\r ", "_"))
_TAKEN = frozenset(
    {
        *("_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id", "_last_updated_sequence_number"),
        *("_change_type", "_change_ordinal", "_commit_snapshot_id"),
    }
)
"""Engines' own columns of every Iceberg table."""
_SYSTEM_PREFIX = "__"


def column_name(wanted: str, taken: Collection[str]) -> str:
    """`taken`: names of its siblings, in lower case, since some engines ignore case."""
    plain = "".join(one for one in wanted.translate(_ODD) if one.isprintable())[:NAME_CHARACTERS_MAX] or "_"
    if plain.startswith(_SYSTEM_PREFIX) or plain.lower() in _TAKEN:
        plain = f"user{plain}"
    candidates = (plain, *(f"{plain}_{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in candidates if name.lower() not in taken)
