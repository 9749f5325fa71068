"""Give offsets to files that an engine appends to a topic's table: the part of an INSERT that makes it a produce.

    lock the topic's partitions -> each file to one of them, at its end -> file spans, tails

The rows of a file take consecutive offsets in their order. If the WAL still holds records before them, the span lies
above `tabled_until`, and the commit of the job that compacts those records passes over it (`pass_appended`).
"""

from collections.abc import Sequence

from lakestream.metadata.rules.appending import AppendedEnd, PartitionTail, passed, placed
from lakestream.metadata.rules.missing import unknown_topic_id
from lakestream.metadata.rules.tabling import FileSpanRow
from lakestream.metadata.verbs.steps import Steps, all_rows, for_each, one_row
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.table import PointerMove
from lakestream.model.topic import PartitionId

_INSERT = Wording(
    postgres="INSERT INTO file_span SELECT * FROM unnest(:partition_id::bigint[], :base_offset::bigint[],"
    " :last_offset::bigint[], :table_id::text[], :file::text[], :log_file::text[], :rows::bigint[], :bytes::bigint[],"
    " :max_timestamp_ms::bigint[], :running_max_timestamp_ms::bigint[], :committed_ms::bigint[], :encoding::text[])",
    sqlite="INSERT INTO file_span VALUES (:partition_id, :base_offset, :last_offset, :table_id, :file, :log_file,"
    " :rows, :bytes, :max_timestamp_ms, :running_max_timestamp_ms, :committed_ms, :encoding)",
)
_GROW = Wording(
    postgres="UPDATE partition SET next_offset = grown.next_offset, tabled_until = grown.tabled_until,"
    " appended_until = grown.next_offset, bytes = bytes + grown.added,"
    " running_max_timestamp_ms = grown.running_max FROM unnest(:partition::bigint[], :next_offset::bigint[],"
    " :tabled_until::bigint[], :bytes_added::bigint[], :running_max_timestamp_ms::bigint[])"
    " AS grown (id, next_offset, tabled_until, added, running_max) WHERE partition.id = grown.id",
    sqlite="UPDATE partition SET next_offset = :next_offset, tabled_until = :tabled_until,"
    " appended_until = :next_offset, bytes = bytes + :bytes_added,"
    " running_max_timestamp_ms = :running_max_timestamp_ms WHERE id = :partition",
)
_PASS = Wording(
    postgres="UPDATE partition SET tabled_until = passed.ending"
    " FROM unnest(:partition::bigint[], :ending::bigint[]) AS passed (id, ending) WHERE partition.id = passed.id",
    sqlite="UPDATE partition SET tabled_until = :ending WHERE id = :partition",
)


def append_files_of(move: PointerMove) -> Steps[None]:
    """Raises UnknownTopicId, and InvalidTableChange if the topic has no partition of the move's number."""
    topic = move.pointer.topic
    assert topic is not None, "only the table of a topic takes appended files"
    rows = yield from all_rows(
        "SELECT id, next_offset, tabled_until, running_max_timestamp_ms FROM partition WHERE topic_id = :topic"
        " ORDER BY id FOR UPDATE",
        topic=topic,
    )
    if not rows:
        raise unknown_topic_id(topic)
    (now_ms,) = yield from one_row("SELECT now_ms()")
    spans, ends = placed(move, [PartitionTail._make(row) for row in rows], now_ms)
    if spans:
        yield from for_each(_columns(FileSpanRow._fields, spans), _INSERT)
        yield from for_each(_columns(AppendedEnd._fields, ends), _GROW)


def pass_appended(partitions: Sequence[PartitionId]) -> Steps[None]:
    """Move `tabled_until` over appended files that follow it directly. The partitions are locked."""
    rows = yield from all_rows(
        "SELECT partition_id, tabled_until, base_offset, last_offset FROM partition"
        " JOIN file_span ON partition_id = partition.id AND last_offset >= tabled_until"
        " WHERE partition.id = ANY (:partitions) AND appended_until > tabled_until"
        " ORDER BY partition_id, last_offset",
        partitions=list(partitions),
    )
    if ends := passed(rows):
        yield from for_each({"partition": list(ends), "ending": list(ends.values())}, _PASS)


def _columns(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> dict[str, list[object]]:
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
