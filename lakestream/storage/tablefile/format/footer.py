"""A table file's footer: where its row groups lie, and which offsets of which partition each of them holds.

    row groups | checksums of blocks | Parquet's metadata, with ours among it | its length (4) | "PAR1"

A reader needs only the footer to go to the right row group, so footers are cached. Nothing of it is parsed before its
checksum is checked, and its statements are compared with each other before they are believed.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lakestream.storage.records.header import Bytes
from lakestream.storage.tablefile.format.blocks import (
    PARQUET_ENDING_BYTES,
    BadBlocks,
    BlockSums,
    bytes_of_sums,
    read_sums,
)
from lakestream.storage.tablefile.format.columns import BY_NAME, VISIBLE
from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.storage.tablefile.format.runs import FOOTER_KEY, BadRuns, RowRun, unpack_runs
from lakestream.storage.tablefile.format.typed import VALUES_KEY

FOOTER_BYTES_MAX = 64 * 1024 * 1024
"""A file of 10,000 row groups has a footer of 15 MB. A footer that claims more than this is damaged."""
MAGIC = b"PAR1"
HELD_FACTOR = 12
HELD_BYTES_MIN = 6 * 1024
"""A parsed footer takes about HELD_FACTOR times its bytes plus HELD_BYTES_MIN: measured from 1 KB to 200 KB."""


class PlacedRun(NamedTuple):
    first_row: int
    """The row's number in its row group."""
    run: RowRun


class PartitionExtent(NamedTuple):
    """The rows of one partition in one row group."""

    group: int
    base_offset: int
    last_offset: int
    rows: int
    bytes: int
    """Uncompressed; an estimate if the group also holds other partitions."""
    runs: tuple[PlacedRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFooter:
    path: str
    blocks: BlockSums
    metadata: pq.FileMetaData
    groups: list[list[RowRun]]
    """The runs of each row group."""
    extents: dict[int, list[PartitionExtent]]
    """By partition, in offset order."""
    rules: str | None
    """How values are read from typed columns; None without typed columns."""
    leaves: tuple[str, ...]
    """The column to which each of Parquet's chunks belongs, in order of the chunks."""
    typed_columns: tuple[str, ...]
    """The columns that hold values, in front of the system's. Columns of keys stand behind those and are not read
    here."""
    whole: Bytes | None
    """The whole file, if it is so small that it was read together with its footer."""
    held_bytes: int

    def extents_from(self, partition: int, offset: int) -> list[PartitionExtent]:
        """The extents that hold `offset` or higher offsets."""
        extents = self.extents.get(partition, [])
        return extents[_position(extents, offset) :]

    def around(self, partition: int, offset: int) -> tuple[int, PartitionExtent | None]:
        """Where the extents before `offset` end (-1: there are none), and the first extent that holds it or a higher
        offset."""
        extents = self.extents.get(partition, [])
        at = _position(extents, offset)
        return extents[at - 1].last_offset if at else -1, extents[at] if at < len(extents) else None

    def is_alone(self, extent: PartitionExtent) -> bool:
        """Whether the extent's row group holds nothing else."""
        return bool(self.metadata.row_group(extent.group).num_rows == extent.rows)


def _position(extents: list[PartitionExtent], offset: int) -> int:
    return bisect_left(extents, offset, key=lambda extent: extent.last_offset)


def ending_bytes(path: str, tail: Bytes, file_bytes: int) -> int:
    """An upper bound of the size of footer and checksums, from the last eight bytes of the file."""
    return min(_footer_bytes(path, tail, file_bytes) + bytes_of_sums(file_bytes), file_bytes)


def parse_footer(path: str, tail: Bytes, file_bytes: int) -> FileFooter:
    """Parse the footer. `tail` holds at least `ending_bytes`, and is kept only if it is the whole file."""
    length = _footer_bytes(path, tail, file_bytes)
    try:
        blocks = read_sums(tail, length, file_bytes)
        metadata = pq.read_metadata(pa.BufferReader(pa.py_buffer(memoryview(tail)[-length:])))
        groups = unpack_runs((metadata.metadata or {})[FOOTER_KEY.encode()])
        schema = metadata.schema.to_arrow_schema()
        _check_columns(schema)
        extents = _extents(metadata, groups)
    except KeyError:
        raise MalformedTableFile(f"table file {path} has no {FOOTER_KEY}: it was not written by Lakestream") from None
    except (BadBlocks, BadRuns) as error:
        raise MalformedTableFile(f"table file {path} cannot be replayed: {error}. Restore the object") from error
    except (pa.ArrowException, OSError) as error:
        raise MalformedTableFile(f"table file {path} has a damaged footer: {error}. Restore the object") from error
    rules = metadata.metadata.get(VALUES_KEY.encode())
    whole = tail if len(tail) == file_bytes else None
    return FileFooter(
        path=path,
        blocks=blocks,
        metadata=metadata,
        groups=groups,
        extents=extents,
        rules=None if rules is None else rules.decode(),
        leaves=tuple(metadata.schema.column(at).path.partition(".")[0] for at in range(metadata.num_columns)),
        typed_columns=tuple(takewhile(lambda name: name not in BY_NAME, schema.names)),
        whole=whole,
        held_bytes=HELD_BYTES_MIN + HELD_FACTOR * length + blocks.sums.nbytes + len(whole or b""),
    )


def _footer_bytes(path: str, tail: Bytes, file_bytes: int) -> int:
    ending = bytes(tail[-PARQUET_ENDING_BYTES:])
    if len(ending) < PARQUET_ENDING_BYTES or ending[4:] != MAGIC:
        raise MalformedTableFile(f"table file {path} does not end like Parquet: restore the object")
    length = int.from_bytes(ending[:4], "little") + PARQUET_ENDING_BYTES
    if length > min(file_bytes, FOOTER_BYTES_MAX):
        raise MalformedTableFile(f"table file {path} claims a footer of {length} bytes: restore the object")
    return length


def _check_columns(schema: pa.Schema) -> None:
    for column in VISIBLE:
        at = schema.get_field_index(column.name)
        if at < 0 or schema.field(at).type != column.arrow or schema.field(at).nullable == column.required_in_file:
            raise BadRuns(f"it has no column {column.name} of the right type")


def _extents(metadata: pq.FileMetaData, groups: list[list[RowRun]]) -> dict[int, list[PartitionExtent]]:
    if len(groups) != metadata.num_row_groups:
        raise BadRuns(f"its list of rows has {len(groups)} groups, Parquet has {metadata.num_row_groups}")
    extents: dict[int, list[PartitionExtent]] = {}
    for group, runs in enumerate(groups):
        parquet = metadata.row_group(group)
        if sum(run.rows for run in runs) != parquet.num_rows:
            raise BadRuns(f"its list of rows does not fit the {parquet.num_rows} rows of row group {group}")
        for partition, placed in _by_partition(runs).items():
            extents.setdefault(partition, []).append(_extent(group, placed, parquet))
    return extents


def _by_partition(runs: Sequence[RowRun]) -> dict[int, list[PlacedRun]]:
    by_partition: dict[int, list[PlacedRun]] = {}
    first_row = 0
    for run in runs:
        by_partition.setdefault(run.partition, []).append(PlacedRun(first_row, run))
        first_row += run.rows
    return by_partition


def _extent(group: int, runs: list[PlacedRun], parquet: pq.RowGroupMetaData) -> PartitionExtent:
    rows = sum(each.run.rows for each in runs)
    return PartitionExtent(
        group=group,
        base_offset=runs[0].run.base_offset,
        last_offset=runs[-1].run.last_offset,
        rows=rows,
        bytes=parquet.total_byte_size * rows // parquet.num_rows,
        runs=tuple(runs),
    )
