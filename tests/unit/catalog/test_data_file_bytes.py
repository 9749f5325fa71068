"""The bytes of a data file are those of a general Avro writer, whatever is null in it."""

import io
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.catalog.manifests.avro_schemas import manifest_schema
from lakestream.catalog.manifests.entries import EntryFormat

SPEC = {"spec-id": 0, "fields": [{"source-id": 1, "field-id": 1000, "name": "day", "transform": "identity"}]}
COLUMN = {"id": 1, "name": "day", "required": False, "type": "int"}
LONGS = st.integers(-(2**63), 2**63 - 1)
INTS = st.integers(-(2**31), 2**31 - 1)
SIZES = st.integers(0, 2**63 - 1)


def pairs(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(st.tuples(INTS, values), max_size=5)


FILES = st.fixed_dictionaries(
    {
        "content": st.integers(0, 2),
        "file_path": st.text(max_size=200),
        "file_format": st.sampled_from(["PARQUET", "ORC"]),
        "record_count": SIZES,
        "file_size_in_bytes": SIZES,
    },
    optional={
        **dict.fromkeys(("column_sizes", "value_counts", "null_value_counts", "nan_value_counts"), pairs(LONGS)),
        **dict.fromkeys(("lower_bounds", "upper_bounds"), pairs(st.binary(max_size=20))),
        "key_metadata": st.none() | st.binary(max_size=5),
        "split_offsets": st.none() | st.lists(LONGS, max_size=5),
        "equality_ids": st.none() | st.lists(INTS, max_size=5),
        "sort_order_id": st.none() | INTS,
    },
)


@pytest.mark.parametrize("format_version", [2, 3])
@pytest.mark.parametrize("partitioned", [False, True])
@given(file=FILES, day=st.none() | INTS)
def test_a_general_writer_would_write_the_same(
    format_version: int, partitioned: bool, file: dict[str, Any], day: int | None
) -> None:
    spec, types = (SPEC, ("int",)) if partitioned else ({"spec-id": 0, "fields": []}, ())
    file = {**file, "partition": {"day": day} if partitioned else {}}
    metadata = {
        "format-version": format_version,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [COLUMN]}],
        "current-schema-id": 0,
        "partition-specs": [spec],
    }
    whole = manifest_schema(format_version, spec, types)
    schema = fastavro.parse_schema(next(field["type"] for field in whole["fields"] if field["name"] == "data_file"))
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, {name: _records(value) for name, value in file.items()})
    behind = 4 if format_version == 3 else 1  # fields that only delete files have, and the first row id: all null
    assert EntryFormat(metadata, 0).encode_data_file(file) + bytes(behind) == out.getvalue()


def _records(value: Any) -> Any:
    """Pairs as Avro has them."""
    is_pairs = isinstance(value, list) and value and isinstance(value[0], tuple)
    return [{"key": key, "value": counted} for key, counted in value] if is_pairs else value
