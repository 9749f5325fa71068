"""Builds manifests and manifest lists: entries framed as a file, and the list's row about each manifest.

entries -> manifest (bytes) + its row -> manifest list (bytes)
"""

import io
import json
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Any

import fastavro

from lakestream.catalog.manifests.avro_file import avro_file, avro_rows, schema_text
from lakestream.catalog.manifests.avro_schemas import manifest_list_schema
from lakestream.catalog.manifests.entries import EntryFormat, ManifestEntry, ManifestFile, Status
from lakestream.catalog.manifests.partition_values import summarised
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.world.objects.store import Buffer


class Content(IntEnum):
    DATA = 0
    DELETES = 1


_ABSENT_BEFORE_V3 = {
    "content": Content.DATA,
    "sequence_number": 0,
    "min_sequence_number": 0,
    "partitions": None,
    "key_metadata": None,
    "first_row_id": None,
}
_OLD_COUNT_END, _COUNT_END = "_data_files_count", "_files_count"


def encode_manifest(metadata: Metadata, format: EntryFormat, entries: Sequence[ManifestEntry]) -> bytes:
    """A data manifest."""
    schema = by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"])
    about = {
        "schema": json.dumps(schema),
        "schema-id": str(metadata["current-schema-id"]),
        "partition-spec": json.dumps(format.spec["fields"]),
        "partition-spec-id": str(format.spec["spec-id"]),
        "format-version": str(metadata["format-version"]),
        "content": "data",
    }
    return avro_file(format.schema, [format.encode(entry) for entry in entries], about)


def manifest_row(
    format: EntryFormat,
    entries: Sequence[ManifestEntry],
    partitions: Sequence[Json],
    *,
    location: str,
    length: int,
    snapshot_id: int,
    sequence_number: int,
    first_row_id: int | None,
) -> ManifestFile:
    """The manifest list's row for a data manifest of these entries. `partitions` are their partition values."""
    numbers = [
        sequence_number if entry.sequence_number is None else entry.sequence_number
        for entry in entries
        if entry.status is not Status.DELETED
    ]
    names = [field["name"] for field in format.spec["fields"]]
    tuples = [[values.get(name) for name in names] for values in partitions]
    return {
        "manifest_path": location,
        "manifest_length": length,
        "partition_spec_id": format.spec["spec-id"],
        "content": Content.DATA,
        "sequence_number": sequence_number,
        "min_sequence_number": min(numbers, default=sequence_number),
        "added_snapshot_id": snapshot_id,
        **_counts("added", entries, Status.ADDED),
        **_counts("existing", entries, Status.EXISTING),
        **_counts("deleted", entries, Status.DELETED),
        "partitions": summarised(format.types, tuples),
        "key_metadata": None,
        "first_row_id": first_row_id,
    }


def encode_manifest_list(
    metadata: Metadata, manifests: Sequence[ManifestFile], *, snapshot: Json, parent_id: int | None
) -> bytes:
    about = {
        "snapshot-id": str(snapshot["snapshot-id"]),
        "parent-snapshot-id": "null" if parent_id is None else str(parent_id),
        "sequence-number": str(snapshot["sequence-number"]),
        "format-version": str(metadata["format-version"]),
    }
    if "first-row-id" in snapshot:
        about["first-row-id"] = str(snapshot["first-row-id"])
    text, parsed = _list_schemas(metadata["format-version"])
    return avro_file(text, [_encoded(parsed, row) for row in manifests], about)


def decode_manifest_list(content: Buffer, location: str) -> list[ManifestFile]:
    """Rows in version 3's form, whichever version wrote them. Raises DamagedTable."""
    return [{**_ABSENT_BEFORE_V3, **_with_new_names(row)} for row in avro_rows(content, location)]


def _counts(name: str, entries: Sequence[ManifestEntry], status: Status) -> dict[str, int]:
    rows = [entry.rows for entry in entries if entry.status is status]
    return {f"{name}_files_count": len(rows), f"{name}_rows_count": sum(rows)}


def _with_new_names(row: ManifestFile) -> ManifestFile:
    """Counts had longer names in earlier versions."""
    return {
        name.removesuffix(_OLD_COUNT_END) + _COUNT_END if name.endswith(_OLD_COUNT_END) else name: value
        for name, value in row.items()
    }


def _encoded(schema: Any, row: ManifestFile) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, row)
    return out.getvalue()


@lru_cache
def _list_schemas(format_version: int) -> tuple[str, Any]:
    schema = manifest_list_schema(format_version)
    return schema_text(schema), fastavro.parse_schema(schema)
