"""Data files as the writer describes them (the REST specification's ContentFile, as JSON) and as manifests hold them.

    {"spec-id": 0, "content": "data", "file-path": ..., "file-format": "parquet", "partition": [], "record-count": ...,
     "file-size-in-bytes": ..., "lower-bounds": {"keys": [1], "values": ["0100000000000000"]}, ...}

Bounds are hexadecimal text in JSON and bytes in a manifest.
"""

from collections.abc import Callable
from typing import Any

from lakestream.catalog.values import Json, wanted
from lakestream.model.table_errors import InvalidTableChange

DataFile = dict[str, Any]
"""A ContentFile in JSON."""

_COUNTS = ("column-sizes", "value-counts", "null-value-counts", "nan-value-counts")
_BOUNDS = ("lower-bounds", "upper-bounds")
_OPTIONAL = ("split-offsets", "sort-order-id")


def manifest_data_file(file: DataFile, spec: Json) -> Json:
    """The `data_file` of a manifest entry, without its first row id."""
    if wanted(file, "content", str).lower() != "data":
        raise InvalidTableChange(f"{file.get('file-path')} is a file of {file['content']}, and only data is appended")
    return {
        "content": 0,
        "file_path": wanted(file, "file-path", str),
        "file_format": wanted(file, "file-format", str).upper(),
        "partition": _partition(file, spec),
        "record_count": wanted(file, "record-count", int),
        "file_size_in_bytes": wanted(file, "file-size-in-bytes", int),
        **{_avro(name): _pairs(file.get(name)) for name in _COUNTS},
        **{_avro(name): _pairs(file.get(name), bytes.fromhex) for name in _BOUNDS},
        **{_avro(name): file.get(name) for name in _OPTIONAL},
        "key_metadata": None,
        "equality_ids": None,
        "referenced_data_file": None,
        "content_offset": None,
        "content_size_in_bytes": None,
    }


def _partition(file: DataFile, spec: Json) -> Json:
    """Values in the order of the spec's fields, or an object by the fields' ids."""
    given, fields = file.get("partition") or [], spec["fields"]
    if isinstance(given, dict):
        return {field["name"]: given.get(str(field["field-id"])) for field in fields}
    if len(given) != len(fields):
        raise InvalidTableChange(f"{file.get('file-path')} has {len(given)} partition values for {len(fields)} fields")
    return {field["name"]: value for field, value in zip(fields, given, strict=True)}


def _pairs(counts: Json | None, convert: Callable[[Any], Any] = lambda value: value) -> list[Json] | None:
    if counts is None:
        return None
    return [{"key": key, "value": convert(value)} for key, value in zip(counts["keys"], counts["values"], strict=True)]


def _avro(name: str) -> str:
    return name.replace("-", "_")
