"""Typed columns of a file: the user's own, in front of the system's, and the footer's rules for reading them.

    {"version": 1, "layout": ..., "writers": [...], "shapes": [...]}      under the key `lakestream.values`

This room moves the columns and keeps the text; the codecs of the contract, which are passed in, know their meaning. A
row whose columns give its value back exactly (form 0) stores no bytes of its value. To replay it, the codecs write them
again from the columns, using only the file's own footer.
"""

from typing import Protocol

import pyarrow as pa

from lakestream.storage.tablefile.format.columns import ERROR, FIELD_ID, FORM, SCHEMA_ID, SHAPE

VALUES_KEY = "lakestream.values"
HIDDEN_OF_TYPED = (FORM, SCHEMA_ID, SHAPE, ERROR)
"""Every file with typed columns has these; nulls in them take next to nothing."""


class Restorer(Protocol):
    def restore(self, rules: str, rows: pa.RecordBatch) -> pa.Array:
        """The values of rows as they were produced, null where there was none. `rows` has the user's columns, the
        hidden ones and `__value`; `rules` is the footer's text. Raises ValueError if rows and rules do not fit
        together."""
        ...


class Composer(Protocol):
    def compose(self, encoding: str, rows: pa.RecordBatch) -> tuple[pa.Array, pa.Array]:
        """Keys and values for the rows of a file that another engine wrote, by the text of its encoding. Raises
        ValueError if rows and encoding do not fit together."""
        ...


class NoTypedValues:
    """A restorer for readers that read only raw topics."""

    def restore(self, rules: str, rows: pa.RecordBatch) -> pa.Array:
        raise ValueError("it has typed columns, and no codec was given to read them")


def leaf_ids(schema: pa.Schema) -> dict[tuple[str, ...], int]:
    """Field ids of Parquet's leaf columns, by path, of the user's columns."""
    found: dict[tuple[str, ...], int] = {}
    for field in schema:
        _add_leaves(field, (field.name,), found)
    return found


def field_id(field: pa.Field) -> int:
    return int(field.metadata[FIELD_ID])


def _add_leaves(field: pa.Field, path: tuple[str, ...], found: dict[tuple[str, ...], int]) -> None:
    kind = field.type
    if pa.types.is_struct(kind):
        for child in kind:
            _add_leaves(child, (*path, child.name), found)
    elif pa.types.is_map(kind):
        _add_leaves(kind.key_field, (*path, "key_value", "key"), found)
        _add_leaves(kind.item_field, (*path, "key_value", "value"), found)
    elif pa.types.is_list(kind):
        _add_leaves(kind.value_field, (*path, "list", "element"), found)
    else:
        found[path] = field_id(field)
