"""Place appended files at the ends of partitions: the whole arithmetic, without a database."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lakestream.metadata.rules.tabling import FileSpanRow
from lakestream.model.table import PointerMove
from lakestream.model.table_errors import InvalidTableChange
from lakestream.model.topic import PartitionId


class PartitionTail(NamedTuple):
    """A partition as an append finds it. Partitions stand in the order of their numbers, which is that of their ids."""

    partition: PartitionId
    next_offset: int
    tabled_until: int
    running_max_timestamp_ms: int


class AppendedEnd(NamedTuple):
    """A partition after an append."""

    partition: PartitionId
    next_offset: int
    tabled_until: int
    bytes_added: int
    running_max_timestamp_ms: int


def placed(
    move: PointerMove, tails: Sequence[PartitionTail], now_ms: int
) -> tuple[list[FileSpanRow], list[AppendedEnd]]:
    """The spans of the files, and the partitions that have grown. Each file goes whole to the partition that the move
    names, or to the one with the lowest end. All its records have the time of the commit. Raises InvalidTableChange."""
    if move.partition is not None and not 0 <= move.partition < len(tails):
        raise InvalidTableChange(f"the topic has no partition {move.partition}: it has {len(tails)}")
    ends = {tail.partition: AppendedEnd(*tail[:3], 0, max(tail.running_max_timestamp_ms, now_ms)) for tail in tails}
    chosen = None if move.partition is None else tails[move.partition].partition
    spans: list[FileSpanRow] = []
    for file in move.appended:
        if file.rows == 0:
            continue
        end = ends[chosen] if chosen is not None else min(ends.values(), key=lambda end: (end.next_offset, end[0]))
        base, after = end.next_offset, end.next_offset + file.rows
        spans.append(
            FileSpanRow(
                partition_id=end.partition,
                base_offset=base,
                last_offset=after - 1,
                table_id=move.pointer.id,
                file=file.file,
                log_file=None,
                rows=file.rows,
                bytes=file.bytes,
                max_timestamp_ms=now_ms,
                running_max_timestamp_ms=end.running_max_timestamp_ms,
                committed_ms=now_ms,
                encoding=file.encoding,
            )
        )
        ends[end.partition] = end._replace(
            next_offset=after,
            tabled_until=after if end.tabled_until == base else end.tabled_until,
            bytes_added=end.bytes_added + file.bytes,
        )
    return spans, [end for end in ends.values() if end.bytes_added]


def passed(rows: Iterable[tuple[PartitionId, int, int, int]]) -> dict[PartitionId, int]:
    """By partition, the end of the file spans that follow its `tabled_until` without a gap. `rows` are the partition,
    its `tabled_until`, and base and last offset of each file span from there on, in order."""
    ends: dict[PartitionId, int] = {}
    for partition, tabled_until, base_offset, last_offset in rows:
        if base_offset <= ends.get(partition, tabled_until) <= last_offset:
            ends[partition] = last_offset + 1
    return ends
