"""The Avro schemas of manifests and manifest lists, format versions 2 and 3, with Iceberg's field ids.

A manifest's schema depends on the partition spec; everything else is fixed. Ids and names are the specification's.
"""

from collections.abc import Sequence
from typing import Any

from lakestream.catalog.manifests.partition_values import UNKNOWN, avro_type
from lakestream.catalog.spec.values import Json


def _field(id: int, name: str, type: Any) -> Json:
    return {"name": name, "type": type, "field-id": id}


def _optional(id: int, name: str, type: Any) -> Json:
    return {"name": name, "type": ["null", type], "default": None, "field-id": id}


def _map(key_id: int, value_id: int, value: str) -> Json:
    """A map with whole-number keys, which Avro lacks: an array of pairs."""
    pair = [_field(key_id, "key", "int"), _field(value_id, "value", value)]
    record = {"type": "record", "name": f"k{key_id}_v{value_id}", "fields": pair}
    return {"type": "array", "items": record, "logicalType": "map"}


def _list(element_id: int, items: Any) -> Json:
    return {"type": "array", "items": items, "element-id": element_id}


_DATA_FILE_METRICS = (
    _optional(108, "column_sizes", _map(117, 118, "long")),
    _optional(109, "value_counts", _map(119, 120, "long")),
    _optional(110, "null_value_counts", _map(121, 122, "long")),
    _optional(137, "nan_value_counts", _map(138, 139, "long")),
    _optional(125, "lower_bounds", _map(126, 127, "bytes")),
    _optional(128, "upper_bounds", _map(129, 130, "bytes")),
    _optional(131, "key_metadata", "bytes"),
    _optional(132, "split_offsets", _list(133, "long")),
    _optional(135, "equality_ids", _list(136, "int")),
    _optional(140, "sort_order_id", "int"),
)
_DATA_FILE_V2 = (_optional(143, "referenced_data_file", "string"),)
_DATA_FILE_V3 = (
    _optional(142, "first_row_id", "long"),
    _optional(143, "referenced_data_file", "string"),
    _optional(144, "content_offset", "long"),
    _optional(145, "content_size_in_bytes", "long"),
)


def _partition_field(id: int, name: str, type: str) -> Json:
    """Avro does not allow a union of null and null."""
    return _field(id, name, avro_type(type)) if type == UNKNOWN else _optional(id, name, avro_type(type))


def avro_name(name: str) -> str:
    """The name of a partition field as Iceberg's own library writes it if Avro does not allow it: user-id is
    user_x2Did. Readers go by field ids, but Java does not open a file with a name that Avro does not allow."""
    first = name[0] if name[0].isalpha() or name[0] == "_" else _escaped(name[0])
    return first + "".join(one if one.isalnum() or one == "_" else _escaped(one) for one in name[1:])


def _escaped(character: str) -> str:
    return f"_{character}" if character.isdecimal() else f"_x{ord(character):X}"


def manifest_schema(format_version: int, spec: Json, types: Sequence[str]) -> Json:
    """`types` are the types of the spec's partition fields."""
    partition = [
        _partition_field(field["field-id"], avro_name(field["name"]), type)
        for field, type in zip(spec["fields"], types, strict=True)
    ]
    data_file = [
        _field(134, "content", "int"),
        _field(100, "file_path", "string"),
        _field(101, "file_format", "string"),
        _field(102, "partition", {"type": "record", "name": "r102", "fields": partition}),
        _field(103, "record_count", "long"),
        _field(104, "file_size_in_bytes", "long"),
        *_DATA_FILE_METRICS,
        *(_DATA_FILE_V3 if format_version >= 3 else _DATA_FILE_V2),
    ]
    entry = [
        _field(0, "status", "int"),
        _optional(1, "snapshot_id", "long"),
        _optional(3, "sequence_number", "long"),
        _optional(4, "file_sequence_number", "long"),
        _field(2, "data_file", {"type": "record", "name": "r2", "fields": data_file}),
    ]
    return {"type": "record", "name": "manifest_entry", "fields": entry}


_PARTITION_SUMMARY = {
    "type": "record",
    "name": "r508",
    "fields": [
        _field(509, "contains_null", "boolean"),
        _optional(518, "contains_nan", "boolean"),
        _optional(510, "lower_bound", "bytes"),
        _optional(511, "upper_bound", "bytes"),
    ],
}
_MANIFEST_FILE = (
    _field(500, "manifest_path", "string"),
    _field(501, "manifest_length", "long"),
    _field(502, "partition_spec_id", "int"),
    _field(517, "content", "int"),
    _field(515, "sequence_number", "long"),
    _field(516, "min_sequence_number", "long"),
    _field(503, "added_snapshot_id", "long"),
    _field(504, "added_files_count", "int"),
    _field(505, "existing_files_count", "int"),
    _field(506, "deleted_files_count", "int"),
    _field(512, "added_rows_count", "long"),
    _field(513, "existing_rows_count", "long"),
    _field(514, "deleted_rows_count", "long"),
    _optional(507, "partitions", _list(508, _PARTITION_SUMMARY)),
    _optional(519, "key_metadata", "bytes"),
)


def manifest_list_schema(format_version: int) -> Json:
    lineage = [_optional(520, "first_row_id", "long")] if format_version >= 3 else []
    return {"type": "record", "name": "manifest_file", "fields": [*_MANIFEST_FILE, *lineage]}
