"""Manifest entries: a file, and when it came into the table. The file's description stays as encoded bytes.

    status | snapshot id | sequence numbers | the data file's fields ... | first row id (version 3) | fields of deletes

An entry that moves to another manifest changes its status and gets explicit numbers. The long part, metrics and bounds
of every column, is only copied. So it is kept encoded, next to the few numbers that can change.
"""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Any

import fastavro

from lakestream.catalog.manifests.avro_file import avro_rows, long_bytes, optional_long, schema_text
from lakestream.catalog.manifests.avro_schemas import avro_name, manifest_schema
from lakestream.catalog.manifests.data_file_bytes import BOUNDS, COUNTS, data_file_bytes
from lakestream.catalog.manifests.partition_values import partition_types
from lakestream.catalog.spec.updates.identity import FIRST_ROW_LINEAGE_VERSION
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.model.table_errors import DamagedTable, InvalidTableChange
from lakestream.world.objects.store import Buffer

ManifestFile = dict[str, Any]
"""One row of a manifest list, with the names of avro_schemas."""

_END_BEFORE_LINEAGE = b"\x00"
_NULLS_AFTER_ROW_ID = b"\x00\x00\x00"
"""Fields that only delete files have: one, and three from version 3 on."""
_SCHEMAS_KEPT = 256


class Status(IntEnum):
    EXISTING = 0
    ADDED = 1
    DELETED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestEntry:
    status: Status
    snapshot_id: int
    sequence_number: int | None
    """None means that of the manifest."""
    file_sequence_number: int | None
    first_row_id: int | None
    """None means the next one of the manifest, or none at all before version 3."""
    path: str
    rows: int
    data_file: bytes
    """Encoded up to where the format versions differ: an entry outlives the upgrade of its table."""

    def settled(self, *, status: Status, row: ManifestFile, first_row_id: int | None) -> "ManifestEntry":
        """The entry for another manifest: inherited values become explicit."""
        return replace(
            self,
            status=status,
            sequence_number=_or(self.sequence_number, row["sequence_number"]),
            file_sequence_number=_or(self.file_sequence_number, row["sequence_number"]),
            first_row_id=first_row_id,
        )

    def deleted(self, snapshot_id: int) -> "ManifestEntry":
        """The entry as the snapshot that removes the file lists it."""
        return replace(self, status=Status.DELETED, snapshot_id=snapshot_id)


class EntryFormat:
    """How entries of one partition spec are written, in one format version."""

    def __init__(self, metadata: Metadata, spec_id: int) -> None:
        self.spec = spec_of(metadata, spec_id)
        self.types = tuple(partition_types(metadata, self.spec)) if self.spec["fields"] else ()
        self.lineage = metadata["format-version"] >= FIRST_ROW_LINEAGE_VERSION
        spec = schema_text(self.spec)
        self.schema, self._parsed, self._partition = _schemas(metadata["format-version"], spec, self.types)

    def encode_data_file(self, data_file: Json) -> bytes:
        return data_file_bytes(data_file, self._partition_bytes(data_file["partition"]))

    def _partition_bytes(self, values: Json) -> bytes:
        if not self.types:
            return b""
        out = io.BytesIO()
        named = {avro_name(field["name"]): values.get(field["name"]) for field in self.spec["fields"]}
        fastavro.schemaless_writer(out, self._partition, named)
        return out.getvalue()

    def file_bytes(self, entry: ManifestEntry) -> int:
        """The size of the entry's file."""
        return int(self.described(entry)["file_size_in_bytes"])

    def described(self, entry: ManifestEntry) -> Json:
        """The entry's file, with the names of avro_schemas."""
        encoded = io.BytesIO(entry.data_file + self._end(None))
        found: Any = fastavro.schemaless_reader(encoded, self._parsed, None)
        return dict(found)

    def _end(self, first_row_id: int | None) -> bytes:
        return optional_long(first_row_id) + _NULLS_AFTER_ROW_ID if self.lineage else _END_BEFORE_LINEAGE

    def encode(self, entry: ManifestEntry) -> bytes:
        numbers = (
            long_bytes(entry.status),
            optional_long(entry.snapshot_id),
            optional_long(entry.sequence_number),
            optional_long(entry.file_sequence_number),
        )
        return b"".join((*numbers, entry.data_file, self._end(entry.first_row_id)))

    def decode(self, content: Buffer, row: ManifestFile) -> list[ManifestEntry]:
        """Entries of a manifest from any writer. Raises DamagedTable."""
        return [self._entry(found, row) for found in avro_rows(content, row["manifest_path"])]

    def _entry(self, found: Json, row: ManifestFile) -> ManifestEntry:
        file = found["data_file"]
        return ManifestEntry(
            status=Status(found["status"]),
            snapshot_id=_or(found["snapshot_id"], row["added_snapshot_id"]),
            sequence_number=found.get("sequence_number"),
            file_sequence_number=found.get("file_sequence_number"),
            first_row_id=file.get("first_row_id"),
            path=file["file_path"],
            rows=file["record_count"],
            data_file=self.encode_data_file(
                {"content": 0, **file, **_pairs_by_name(file), "partition": self._partition_values(file["partition"])}
            ),
        )

    def _partition_values(self, found: Json) -> Json:
        """The values by the spec's field names, in its order. Manifests use names that Avro allows."""
        fields = self.spec["fields"]
        if len(found) != len(fields):
            raise DamagedTable(f"a manifest has {len(found)} partition values where its spec has {len(fields)} fields")
        return {field["name"]: value for field, value in zip(fields, found.values(), strict=True)}


def settled_entries(entries: Sequence[ManifestEntry], row: ManifestFile) -> list[ManifestEntry]:
    """The living entries, as existing entries of another manifest."""
    next_row_id = row["first_row_id"]
    settled = []
    for entry in entries:
        if entry.status is Status.DELETED:
            continue
        first = entry.first_row_id
        if first is None and next_row_id is not None:
            first, next_row_id = next_row_id, next_row_id + entry.rows
        settled.append(entry.settled(status=Status.EXISTING, row=row, first_row_id=first))
    return settled


def spec_of(metadata: Metadata, spec_id: int) -> Json:
    spec = by_id(metadata["partition-specs"], "spec-id", spec_id)
    if spec is None:
        raise InvalidTableChange(f"the table has no partition spec {spec_id}")
    return spec


@lru_cache(maxsize=_SCHEMAS_KEPT)
def _schemas(format_version: int, spec: str, types: tuple[str, ...]) -> tuple[str, Any, Any]:
    """The schema of entries as JSON, and the parsed schemas of their data file and its partition."""
    whole = manifest_schema(format_version, json.loads(spec), types)
    data_file = _type_of(whole, "data_file")
    partition = _type_of(data_file, "partition")
    return schema_text(whole), fastavro.parse_schema(data_file), fastavro.parse_schema(partition)


def _pairs_by_name(file: Json) -> Json:
    """Converts counts and bounds of a data file from Avro's lists of records to pairs."""
    found = ((name, file.get(name)) for name in (*COUNTS, *BOUNDS))
    return {name: records and [(each["key"], each["value"]) for each in records] for name, records in found}


def _type_of(record: Json, name: str) -> Json:
    found: Json = next(field["type"] for field in record["fields"] if field["name"] == name)
    return found


def _or(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None else value
