"""The metadata of a new table: from a create request, or from nothing for a staged one.

create request  ->  fresh field ids, spec, order, properties  ->  metadata (format version 2, or 3 on request)
staged create: the same metadata is handed out, not kept; later a commit brings it back as updates on `empty_table`
"""

from lakestream.catalog.spec.schema.ids import mapped, with_fresh_ids
from lakestream.catalog.spec.updates.identity import FIRST_ROW_LINEAGE_VERSION, FORMAT_VERSIONS
from lakestream.catalog.spec.updates.layout import (
    PARTITION_FIELD_ID_BEFORE_FIRST,
    UNSORTED_ORDER_ID,
    checked_partition_fields,
    checked_sort_fields,
)
from lakestream.catalog.spec.updates.schemas import check_schema, highest_field_id
from lakestream.catalog.spec.updates.snapshots import NO_SNAPSHOT
from lakestream.catalog.spec.updates.sources import check_compatible, source_id
from lakestream.catalog.spec.values import Json, Metadata, shown, wanted, wanted_texts, whole_number
from lakestream.model.table_errors import InvalidTableChange

DEFAULT_FORMAT_VERSION = 2

RESERVED_PROPERTIES = frozenset(
    {
        "format-version",
        "uuid",
        "snapshot-count",
        "current-snapshot-id",
        "current-snapshot-summary",
        "current-snapshot-timestamp-ms",
        "current-schema",
        "default-partition-spec",
        "default-sort-order",
    }
)
"""Requests may set these; they are not kept as properties."""

_DEFAULT_PROPERTIES = {"write.parquet.compression-codec": "zstd"}
"""Iceberg's own library writes these into every new table."""


def empty_table(*, format_version: int, now_ms: int) -> Metadata:
    """An empty table, for updates to fill."""
    _check_format_version(format_version)
    lineage = {"next-row-id": 0} if format_version >= FIRST_ROW_LINEAGE_VERSION else {}
    repeated: Json = {"schema": {}, "partition-spec": []} if format_version == 1 else {}
    return {
        "format-version": format_version,
        "last-sequence-number": 0,
        "last-updated-ms": now_ms,
        "last-column-id": 0,
        "current-schema-id": -1,
        "schemas": [],
        "default-spec-id": 0,
        "partition-specs": [],
        "last-partition-id": PARTITION_FIELD_ID_BEFORE_FIRST,
        "default-sort-order-id": UNSORTED_ORDER_ID,
        "sort-orders": [],
        "properties": {},
        "current-snapshot-id": NO_SNAPSHOT,
        "refs": {},
        "snapshots": [],
        "statistics": [],
        "partition-statistics": [],
        "snapshot-log": [],
        "metadata-log": [],
        **lineage,
        **repeated,
    }


def new_table(request: Json, *, uuid: str, location: str, now_ms: int) -> Metadata:
    """The table for a create request."""
    asked = wanted_texts(request, "properties") if request.get("properties") is not None else {}
    format_version = _format_version(asked)
    schema, fresh_of = with_fresh_ids(wanted(request, "schema", dict))
    check_schema(schema, format_version)
    spec = _spec(request.get("partition-spec"), fresh_of)
    order = _order(request.get("write-order"), fresh_of)
    kept = {key: value for key, value in asked.items() if key not in RESERVED_PROPERTIES}
    current = {**schema, "schema-id": 0}
    repeated = {"schema": current, "partition-spec": spec["fields"]} if format_version == 1 else {}
    made = {
        **empty_table(format_version=format_version, now_ms=now_ms),
        **repeated,
        "table-uuid": uuid,
        "location": location,
        "last-column-id": highest_field_id(schema),
        "current-schema-id": 0,
        "schemas": [current],
        "partition-specs": [spec],
        "last-partition-id": PARTITION_FIELD_ID_BEFORE_FIRST + len(spec["fields"]),
        "default-sort-order-id": order["order-id"],
        "sort-orders": [order],
        "properties": {**_DEFAULT_PROPERTIES, **kept},
    }
    check_compatible(made)
    return made


def format_version_of(updates: list[Json]) -> int:
    """The format version in the updates of a staged create."""
    asked = (update.get("format-version") for update in updates if update.get("action") == "upgrade-format-version")
    return next((version for version in asked if isinstance(version, int)), DEFAULT_FORMAT_VERSION)


def _format_version(properties: dict[str, str]) -> int:
    asked = properties.get("format-version", str(DEFAULT_FORMAT_VERSION))
    version = whole_number(asked)
    if version is None:
        raise InvalidTableChange(f"format-version must be one of {FORMAT_VERSIONS}, not {shown(asked)}")
    _check_format_version(version)
    return version


def _check_format_version(version: int) -> None:
    if version not in FORMAT_VERSIONS:
        raise InvalidTableChange(f"there is no format version {version}: use one of {FORMAT_VERSIONS}")


def _spec(asked: Json | None, fresh_of: dict[int, int]) -> Json:
    fields = checked_partition_fields(asked) if asked is not None else []
    numbered = [
        {
            **_with_fresh_source(field, fresh_of, "partition field"),
            "field-id": PARTITION_FIELD_ID_BEFORE_FIRST + number,
        }
        for number, field in enumerate(fields, start=1)
    ]
    return {"spec-id": 0, "fields": numbered}


def _order(asked: Json | None, fresh_of: dict[int, int]) -> Json:
    fields = checked_sort_fields(asked) if asked is not None else []
    numbered = [_with_fresh_source(field, fresh_of, "sort field") for field in fields]
    return {"order-id": UNSORTED_ORDER_ID + 1 if fields else UNSORTED_ORDER_ID, "fields": numbered}


def _with_fresh_source(field: Json, fresh_of: dict[int, int], what: str) -> Json:
    fresh = mapped(fresh_of, source_id(field), what)
    return {**field, "source-id": fresh, **({"source-ids": [fresh]} if "source-ids" in field else {})}
