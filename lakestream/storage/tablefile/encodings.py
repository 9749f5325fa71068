"""How a user's column is written, told by its first rows: in most topics the others are like them.

    few values that come again and again -> a dictionary
    numbers and times                    -> deltas, if a trial with the first rows makes them smaller
    everything else                      -> plain, which costs least and which zstd makes small

Ids and times rise, which deltas make next to nothing of; and of numbers without any order they leave out the bytes that
are always zero, faster than zstd does. Readers of Spark, Iceberg, Arrow and DuckDB know all of these; that is not so of
BYTE_STREAM_SPLIT.
"""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ZSTD_LEVEL = 1
DELTAS = "DELTA_BINARY_PACKED"
PLAIN = "PLAIN"
_SAMPLE_ROWS = 2_048
_REPEATS_MIN = 8
"""A value of the sample occurs at least so often, on average, in a column that gets a dictionary."""


def few_valued(columns: pa.Table) -> list[str]:
    """Those in which most values occur often: a dictionary makes them small."""
    sample = columns.slice(0, _SAMPLE_ROWS)
    most = sample.num_rows // _REPEATS_MIN
    return [name for name in sample.column_names if pc.count_distinct(sample.column(name)).as_py() <= most]


def best_as_deltas(columns: pa.Table) -> list[str]:
    """Those that are smaller as deltas than plain, both compressed."""
    sample = columns.slice(0, _SAMPLE_ROWS)
    whole = [field.name for field in sample.schema if _is_whole(field.type)]
    return [name for name in whole if _size_bytes(sample, name, DELTAS) < _size_bytes(sample, name, PLAIN)]


def _is_whole(kind: pa.DataType) -> bool:
    """What Parquet stores as an integer, but for decimals, of which not all are."""
    return bool(pa.types.is_integer(kind) or pa.types.is_temporal(kind))


def _size_bytes(columns: pa.Table, name: str, encoding: str) -> int:
    out = pa.BufferOutputStream()
    pq.write_table(
        columns.select([name]),
        out,
        compression="zstd",
        compression_level=ZSTD_LEVEL,
        use_dictionary=False,
        column_encoding={name: encoding},
        write_statistics=False,
        store_schema=False,
    )
    return int(out.getvalue().size)
