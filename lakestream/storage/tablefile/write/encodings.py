"""Chooses the encoding of a user's column from its first rows: in most topics the other rows are like them.

    few values that come again and again -> a dictionary
    numbers and times                    -> deltas, if a trial with the first rows makes them smaller
    everything else                      -> plain, which costs least and which zstd makes small

Ids and times rise, and deltas reduce them to next to nothing. Of unordered numbers, deltas drop the bytes that are
always zero, faster than zstd does. A column that zstd makes no smaller is left uncompressed. Readers of Spark, Iceberg,
Arrow and DuckDB know all of these encodings; that is not so of BYTE_STREAM_SPLIT.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ZSTD = "zstd"
ZSTD_LEVEL = 1
DELTAS = "DELTA_BINARY_PACKED"
PLAIN = "PLAIN"
NO_CODEC = "none"
_SAMPLE_ROWS = 2_048
_REPEATS_MIN = 8
"""The average number of times that each value must occur in the sample for the column to get a dictionary."""
_WORTH_ZSTD = 7 / 8
"""zstd must shrink a column of numbers at least this far to be worth the time of writing and reading."""


class Encodings(NamedTuple):
    """Names of columns. A column that no list names is plain, and all columns except the bare ones are compressed."""

    few_valued: Sequence[str]
    deltas: Sequence[str]
    bare: Sequence[str]
    """Not compressed. Only numbers are here: a text column with a dictionary may get many distinct values later on."""


def encodings_of(columns: pa.Table) -> Encodings:
    """Choose the encodings. `columns` are the first rows, without nested columns."""
    sample = columns.slice(0, _SAMPLE_ROWS)
    most = sample.num_rows // _REPEATS_MIN
    few = [name for name in sample.column_names if pc.count_distinct(sample.column(name)).as_py() <= most]
    whole = [field.name for field in sample.schema if _is_whole(field.type) and field.name not in few]
    plain, as_deltas = _sizes(sample, whole, encoding=PLAIN), _sizes(sample, whole, encoding=DELTAS)
    deltas = [name for name in whole if as_deltas[name].compressed < plain[name].compressed]
    numbered = [field.name for field in sample.schema if field.name in few and _is_number(field.type)]
    filled = [name for name in numbered if sample.column(name).null_count < sample.num_rows]
    tried = _sizes(sample, filled, encoding=None) | {name: as_deltas[name] for name in deltas}
    bare = [name for name, size in tried.items() if size.compressed > size.bytes * _WORTH_ZSTD]
    return Encodings(few, deltas, bare)


class _Size(NamedTuple):
    compressed: int
    bytes: int


def _is_whole(kind: pa.DataType) -> bool:
    """Whether Parquet stores the type as an integer. Decimals are excluded, as not all of them are."""
    return bool(pa.types.is_integer(kind) or pa.types.is_temporal(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(_is_whole(kind) or pa.types.is_boolean(kind) or pa.types.is_floating(kind))


def _sizes(columns: pa.Table, names: list[str], *, encoding: str | None) -> dict[str, _Size]:
    """The size of each column in this encoding. None: with a dictionary."""
    if not names:
        return {}
    written: list[pq.FileMetaData] = []
    pq.write_table(
        columns.select(names),
        pa.BufferOutputStream(),
        compression=ZSTD,
        compression_level=ZSTD_LEVEL,
        use_dictionary=encoding is None,
        column_encoding=None if encoding is None else dict.fromkeys(names, encoding),
        write_statistics=False,
        store_schema=False,
        metadata_collector=written,
    )
    if not written[0].num_row_groups:
        return dict.fromkeys(names, _Size(0, 0))
    chunks = [written[0].row_group(0).column(at) for at in range(len(names))]
    sizes = [_Size(chunk.total_compressed_size, chunk.total_uncompressed_size) for chunk in chunks]
    return dict(zip(names, sizes, strict=True))
