"""FileDescriptor: the facts about a file that a table's manifest and the offset index need, as one JSON-able value.

The worker that wrote the file returns it; the committer turns it into a manifest entry and into file spans. Bounds are
Iceberg's single values in binary form, by field id; in JSON they are written in hexadecimal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class PartitionRows(NamedTuple):
    """The rows of one partition in the file: offsets from first to last, perhaps with holes."""

    partition: int
    base_offset: int
    last_offset: int
    rows: int
    max_timestamp_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDescriptor:
    path: str
    record_count: int
    file_size_bytes: int
    column_sizes: Mapping[int, int]
    value_counts: Mapping[int, int]
    null_value_counts: Mapping[int, int]
    nan_value_counts: Mapping[int, int]
    lower_bounds: Mapping[int, bytes]
    upper_bounds: Mapping[int, bytes]
    split_offsets: tuple[int, ...]
    partitions: tuple[PartitionRows, ...]
    """In order of partition; one entry for each."""

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "record-count": self.record_count,
            "file-size-bytes": self.file_size_bytes,
            "column-sizes": _named(self.column_sizes),
            "value-counts": _named(self.value_counts),
            "null-value-counts": _named(self.null_value_counts),
            "nan-value-counts": _named(self.nan_value_counts),
            "lower-bounds": {str(field): bound.hex() for field, bound in self.lower_bounds.items()},
            "upper-bounds": {str(field): bound.hex() for field, bound in self.upper_bounds.items()},
            "split-offsets": list(self.split_offsets),
            "partitions": [list(rows) for rows in self.partitions],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "FileDescriptor":
        return cls(
            path=content["path"],
            record_count=content["record-count"],
            file_size_bytes=content["file-size-bytes"],
            column_sizes=_by_id(content["column-sizes"]),
            value_counts=_by_id(content["value-counts"]),
            null_value_counts=_by_id(content["null-value-counts"]),
            nan_value_counts=_by_id(content["nan-value-counts"]),
            lower_bounds={int(field): bytes.fromhex(bound) for field, bound in content["lower-bounds"].items()},
            upper_bounds={int(field): bytes.fromhex(bound) for field, bound in content["upper-bounds"].items()},
            split_offsets=tuple(content["split-offsets"]),
            partitions=tuple(PartitionRows(*rows) for rows in content["partitions"]),
        )


def _named(counts: Mapping[int, int]) -> dict[str, int]:
    return {str(field): count for field, count in counts.items()}


def _by_id(counts: Mapping[str, int]) -> dict[int, int]:
    return {int(field): count for field, count in counts.items()}
