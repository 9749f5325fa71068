"""Puts rows in the order of a table's layout: by partition, and sorted within each. Pure: rows in, rows out.

    rows -> values of partition fields -> a number for each partition -> sorted by it and the sort fields -> cut

Columns are found by field id, so rows of any age of the table do: a column that they lack is null in all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakestream.storage.tablefile.format.columns import FIELD_ID
from lakestream.table.arrangement.transforms import transformed, unscaled

PARTITIONS_MAX = 1_000
"""Files that one stretch of rows may become. More of them, each of a few rows, would make the table slower."""
_PLACEMENTS = {"nulls-first": "at_start", "nulls-last": "at_end"}
_DIRECTIONS = {"asc": "ascending", "desc": "descending"}


class TooManyPartitions(ValueError):
    """The partition fields have too many values."""


class FieldSource(NamedTuple):
    """A field of a partition spec or a sort order."""

    column: int
    """The field id of its column."""
    transform: str


class SortField(NamedTuple):
    source: FieldSource
    direction: str
    null_order: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayout:
    """How files are laid out: the fields of a spec and of a sort order, with their ids in the table."""

    spec_id: int
    partition: tuple[FieldSource, ...]
    order_id: int
    order: tuple[SortField, ...]


class Arranged(NamedTuple):
    partition: tuple[Any, ...]
    """The values of the partition fields, as manifests hold them; decimals as whole numbers."""
    rows: NDArray[np.int64]
    """Numbers of rows, in order."""


def arranged(rows: pa.Table, layout: FileLayout) -> Iterator[Arranged]:
    """The rows of each partition, in order. Raises TooManyPartitions, NoTransform."""
    if not rows.num_rows:
        return
    columns = _columns_by_id(rows)
    fields = [_values(columns, source, rows.num_rows) for source in layout.partition]
    numbers = _partition_numbers(fields, rows.num_rows)
    keys = {"0": pa.array(numbers)}
    sort_keys: list[tuple[str, ...]] = [("0", "ascending")]
    for at, (source, direction, null_order) in enumerate(layout.order, 1):
        keys[str(at)] = _values(columns, source, rows.num_rows)
        sort_keys.append((str(at), _DIRECTIONS[direction], _PLACEMENTS[null_order]))
    # In the order in which they came, where the sort fields are alike.
    keys["last"] = pa.array(np.arange(rows.num_rows))
    sort_keys.append(("last", "ascending"))
    order = pc.sort_indices(pa.table(keys), sort_keys=sort_keys).to_numpy().astype(np.int64)
    ends = np.flatnonzero(np.diff(numbers[order])) + 1
    for part in np.split(order, ends):
        yield Arranged(tuple(_stored(field, int(part[0])) for field in fields), part)


def _partition_numbers(fields: Sequence[pa.Array], count: int) -> NDArray[np.int64]:
    """The same number for rows of one partition."""
    numbers: NDArray[np.int64] = np.zeros(count, np.int64)
    for field in fields:
        codes = field.dictionary_encode(null_encoding="encode").indices.to_numpy().astype(np.int64)
        distinct, numbers = np.unique(numbers * (int(codes.max()) + 1) + codes, return_inverse=True)
        if len(distinct) > PARTITIONS_MAX:
            raise TooManyPartitions(
                f"its rows fall into more than {PARTITIONS_MAX} partitions at once: choose a wider transform, such as "
                "bucket(16, column) or day(column)"
            )
    return numbers.astype(np.int64)


def _values(columns: Mapping[int, pa.Array], source: FieldSource, count: int) -> pa.Array:
    column = columns.get(source.column)
    return pa.nulls(count, pa.int32()) if column is None else transformed(source.transform, column)


def _columns_by_id(rows: pa.Table) -> dict[int, pa.Array]:
    """Columns with one value in each row, also those within structs."""
    found: dict[int, pa.Array] = {}

    def add(field: pa.Field, values: pa.Array) -> None:
        if pa.types.is_struct(field.type):
            for at, child in enumerate(field.type):
                add(child, pc.struct_field(values, [at]))
        elif field.metadata and FIELD_ID in field.metadata:
            found[int(field.metadata[FIELD_ID])] = values

    for field in rows.schema:
        add(field, rows.column(field.name).combine_chunks())
    return found


def _stored(field: pa.Array, row: int) -> Any:
    """The value as a manifest holds it: dates and times as numbers."""
    scalar = field[row]
    if not scalar.is_valid:
        return None
    if pa.types.is_decimal(field.type):
        return unscaled(scalar.as_py())
    if pa.types.is_temporal(field.type):
        whole = scalar.cast(pa.int32()) if pa.types.is_date32(field.type) else scalar.cast(pa.int64())
        return whole.as_py()
    return scalar.as_py()
