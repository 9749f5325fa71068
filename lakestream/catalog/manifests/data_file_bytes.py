"""Encodes the `data_file` of a manifest entry as Avro, up to where the format versions differ.

    content | path | format | partition | rows | size | counts by column ... | bounds by column ... | optional lists

Nearly every field may be null. A general writer examines the whole value to find the branch of each union, which took
longer than all other encoding in a commit. Here it is one comparison.
"""

from collections.abc import Sequence

from lakestream.catalog.manifests.avro_file import bytes_bytes, long_bytes, optional_long, text_bytes
from lakestream.catalog.spec.values import Json

COUNTS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts")
BOUNDS = ("lower_bounds", "upper_bounds")
_NULL, _PRESENT, _LAST_BLOCK = b"\x00", b"\x02", b"\x00"


def data_file_bytes(file: Json, partition: bytes) -> bytes:
    """Fields are named as in avro_schemas; a missing field is null. Counts and bounds are pairs of a column's id and a
    value; `partition` is encoded."""
    return b"".join(
        (
            long_bytes(file["content"]),
            text_bytes(file["file_path"]),
            text_bytes(file["file_format"]),
            partition,
            long_bytes(file["record_count"]),
            long_bytes(file["file_size_in_bytes"]),
            *(_counts(file.get(name)) for name in COUNTS),
            *(_bounds(file.get(name)) for name in BOUNDS),
            _optional_bytes(file.get("key_metadata")),
            _optional_longs(file.get("split_offsets")),
            _optional_longs(file.get("equality_ids")),
            optional_long(file.get("sort_order_id")),
        )
    )


def _counts(pairs: Sequence[tuple[int, int]] | None) -> bytes:
    return _list(None if pairs is None else [long_bytes(column) + long_bytes(count) for column, count in pairs])


def _bounds(pairs: Sequence[tuple[int, bytes]] | None) -> bytes:
    return _list(None if pairs is None else [long_bytes(column) + bytes_bytes(bound) for column, bound in pairs])


def _optional_longs(values: Sequence[int] | None) -> bytes:
    return _list(None if values is None else [long_bytes(value) for value in values])


def _optional_bytes(value: bytes | None) -> bytes:
    return _NULL if value is None else _PRESENT + bytes_bytes(value)


def _list(items: Sequence[bytes] | None) -> bytes:
    """An optional array of encoded items."""
    if items is None:
        return _NULL
    block = (long_bytes(len(items)), *items) if items else ()
    return b"".join((_PRESENT, *block, _LAST_BLOCK))
