"""Converts data files from the writer's form (the REST specification's ContentFile, as JSON) to that of manifests.

    {"spec-id": 0, "content": "data", "file-path": ..., "file-format": "parquet", "partition": [], "record-count": ...,
     "file-size-in-bytes": ..., "lower-bounds": {"keys": [1], "values": ["0100000000000000"]}, ...}

Bounds are hexadecimal text in JSON and bytes in a manifest.
"""

from typing import Any

from lakestream.catalog.spec.values import Json, wanted
from lakestream.model.table_errors import InvalidTableChange

DataFile = dict[str, Any]
"""A ContentFile in JSON."""

_COUNTS = {
    "column-sizes": "column_sizes",
    "value-counts": "value_counts",
    "null-value-counts": "null_value_counts",
    "nan-value-counts": "nan_value_counts",
}
_BOUNDS = {"lower-bounds": "lower_bounds", "upper-bounds": "upper_bounds"}
"""Names in JSON to names in manifests."""


def manifest_data_file(file: DataFile, spec: Json) -> Json:
    """The `data_file` of a manifest entry, as input for data_file_bytes.py."""
    if wanted(file, "content", str).lower() != "data":
        raise InvalidTableChange(f"{file.get('file-path')} is a file of {file['content']}, and only data is appended")
    return {
        "content": 0,
        "file_path": wanted(file, "file-path", str),
        "file_format": wanted(file, "file-format", str).upper(),
        "partition": _partition(file, spec),
        "record_count": wanted(file, "record-count", int),
        "file_size_in_bytes": wanted(file, "file-size-in-bytes", int),
        **{avro: _pairs(file.get(name)) for name, avro in _COUNTS.items()},
        **{avro: _bounds(file.get(name)) for name, avro in _BOUNDS.items()},
        "split_offsets": file.get("split-offsets"),
        "sort_order_id": file.get("sort-order-id"),
    }


def _partition(file: DataFile, spec: Json) -> Json:
    """Values in the order of the spec's fields, or an object by the fields' ids."""
    given, fields = file.get("partition") or [], spec["fields"]
    if isinstance(given, dict):
        return {field["name"]: given.get(str(field["field-id"])) for field in fields}
    if len(given) != len(fields):
        raise InvalidTableChange(f"{file.get('file-path')} has {len(given)} partition values for {len(fields)} fields")
    return {field["name"]: value for field, value in zip(fields, given, strict=True)}


def _pairs(counts: Json | None) -> list[tuple[int, int]] | None:
    return None if counts is None else list(zip(counts["keys"], counts["values"], strict=True))


def _bounds(bounds: Json | None) -> list[tuple[int, bytes]] | None:
    if bounds is None:
        return None
    return list(zip(bounds["keys"], map(bytes.fromhex, bounds["values"]), strict=True))
