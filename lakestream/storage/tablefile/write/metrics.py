"""Makes a finished file's descriptor: sizes, counts and bounds from Parquet's footer, nulls from the writer's count."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow.parquet as pq

from lakestream.storage.tablefile.format.descriptor import FileDescriptor, PartitionRows
from lakestream.storage.tablefile.format.runs import RowRun
from lakestream.storage.tablefile.write.bounds import Bounds


def described(
    path: str,
    size_bytes: int,
    metadata: pq.FileMetaData,
    bounds: Mapping[int, Bounds],
    runs: Sequence[RowRun],
    leaves: Mapping[tuple[str, ...], int],
) -> FileDescriptor:
    """The file's descriptor. `bounds` is keyed by field id, and `leaves` maps paths of Parquet's columns to field
    ids."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    sizes: dict[int, int] = {}
    counts: dict[int, int] = {}
    for column in (group.column(at) for group in groups for at in range(group.num_columns)):
        field_id = leaves[tuple(column.path_in_schema.split("."))]
        sizes[field_id] = sizes.get(field_id, 0) + column.total_compressed_size
        counts[field_id] = counts.get(field_id, 0) + column.num_values
        if (own := bounds.get(field_id)) is not None:
            own.take(column.statistics)
    return FileDescriptor(
        path=path,
        record_count=metadata.num_rows,
        file_size_bytes=size_bytes,
        column_sizes=sizes,
        value_counts=counts,
        null_value_counts={field_id: each.nulls for field_id, each in bounds.items()},
        nan_value_counts={field_id: each.nans for field_id, each in bounds.items() if each.nans is not None},
        lower_bounds={field_id: low for field_id, each in bounds.items() if (low := each.lower()) is not None},
        upper_bounds={field_id: up for field_id, each in bounds.items() if (up := each.upper()) is not None},
        split_offsets=tuple(starts_at(group.column(0)) for group in groups),
        partitions=_by_partition(runs),
    )


def starts_at(column: pq.ColumnChunkMetaData) -> int:
    pages: int = column.data_page_offset
    return min(pages, column.dictionary_page_offset) if column.has_dictionary_page else pages


def _by_partition(runs: Iterable[RowRun]) -> tuple[PartitionRows, ...]:
    found: dict[int, PartitionRows] = {}
    for run in runs:
        whole = found.get(run.partition)
        found[run.partition] = PartitionRows(
            partition=run.partition,
            base_offset=whole.base_offset if whole else run.base_offset,
            last_offset=run.last_offset,
            rows=run.rows + (whole.rows if whole else 0),
            max_timestamp_ms=max(run.max_timestamp_ms, whole.max_timestamp_ms if whole else run.max_timestamp_ms),
        )
    return tuple(found.values())
