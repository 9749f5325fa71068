"""Inline bytes: reading them, moving them into an object, and forgetting the fates of those that are gone.

A move locks the partitions first, as commits do, so that spans neither come nor go while it gives them their new place.
"""

from collections import Counter
from collections.abc import Sequence

from lakestream.metadata.inline_store import FATES_KEPT_MS
from lakestream.metadata.rules.moving import Replaced, SpanKey, StillInline, moved_rows
from lakestream.metadata.rules.segment_state import SegmentState
from lakestream.metadata.verbs.dropping import release
from lakestream.metadata.verbs.running import Verbs, reads, transacts
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, for_each, lock, one_row
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.errors import SegmentAbandoned
from lakestream.model.inline import InlineAtRest, InlineMove, InlineSpan, InlineStretch
from lakestream.model.place import SegmentId, Span

_SPANS = (
    "SELECT partition_id, topic_id, number, base_offset, last_offset, segment_id, at, length, max_timestamp_ms,"
    " append_ms FROM span JOIN partition ON partition.id = partition_id"
    " WHERE segment_id = ANY (:segments) AND segment_id >= 'inline' ORDER BY partition_id, last_offset"
)
"""The comparison says that the partial index `span_inline` holds all of these."""
_STILL_INLINE = (
    "SELECT partition_id, base_offset, last_offset, segment_id, length, max_timestamp_ms, running_max_timestamp_ms,"
    " append_ms, committed_ms FROM span WHERE segment_id = ANY (:segments) AND segment_id >= 'inline'"
)
_REPLACE = Wording(
    postgres="UPDATE span SET segment_id = :segment, base_offset = moved.base_offset, at = moved.at,"
    " length = moved.length, max_timestamp_ms = moved.max_timestamp_ms"
    " FROM unnest(:partition::bigint[], :last_offset::bigint[], :base_offset::bigint[], :at::bigint[],"
    " :length::bigint[], :max_timestamp_ms::bigint[])"
    " AS moved (partition_id, last_offset, base_offset, at, length, max_timestamp_ms)"
    " WHERE span.partition_id = moved.partition_id AND span.last_offset = moved.last_offset",
    sqlite="UPDATE span SET segment_id = :segment, base_offset = :base_offset, at = :at, length = :length,"
    " max_timestamp_ms = :max_timestamp_ms WHERE partition_id = :partition AND last_offset = :last_offset",
)
_REMOVE = Wording(
    postgres="DELETE FROM span USING unnest(:partition::bigint[], :last_offset::bigint[]) AS gone (id, ending)"
    " WHERE partition_id = gone.id AND last_offset = gone.ending",
    sqlite="DELETE FROM span WHERE partition_id = :partition AND last_offset = :last_offset",
)


class InlineVerbs(Verbs):
    """The InlineStore of both stores."""

    @reads
    def read(self, segments: Sequence[SegmentId]) -> Steps[dict[SegmentId, bytes]]:
        return (yield from _data(segments))

    @reads
    def at_rest(self) -> Steps[InlineAtRest]:
        row = yield from one_row(
            "SELECT coalesce(sum(bytes), 0)::bigint, count(*), min(committed_ms) FROM inline_segment"
        )
        return InlineAtRest._make(row)

    @reads
    def oldest(self, *, bytes_max: int, segments_max: int) -> Steps[InlineStretch]:
        rows = yield from all_rows("SELECT id, bytes FROM inline_segment ORDER BY id LIMIT :limit", limit=segments_max)
        segments = _first(rows, bytes_max)
        spans = yield from all_rows(_SPANS, segments=segments)
        return InlineStretch(
            spans=[InlineSpan(id, topic, number, Span._make(span)) for id, topic, number, *span in spans],
            data=(yield from _data(segments)),
        )

    @transacts
    def move(self, move: InlineMove) -> Steps[None]:
        decided = yield from changed(
            "INSERT INTO segment (id, state, bytes, decided_ms, receipted_in, span_count)"
            " VALUES (:segment, :committed, :bytes, now_ms(), :segment, 0) ON CONFLICT (id) DO NOTHING",
            segment=move.segment,
            committed=SegmentState.COMMITTED.value,
            bytes=move.bytes,
        )
        if not decided:
            yield from _check_committed(move.segment)
            return
        partitions = sorted({span.partition for span in move.spans})
        yield from lock(
            "SELECT 1 FROM partition WHERE id = ANY (:partitions) ORDER BY id FOR UPDATE", partitions=partitions
        )
        yield from _move_spans(move)

    @transacts
    def forget(self, limit: int) -> Steps[int]:
        rows = yield from all_rows(
            "SELECT id FROM segment WHERE id >= 'inline' AND dead_since_ms < now_ms() - :kept_ms"
            " ORDER BY id LIMIT :limit FOR UPDATE",
            kept_ms=FATES_KEPT_MS,
            limit=limit,
        )
        return (yield from changed("DELETE FROM segment WHERE id = ANY (:dead)", dead=[row[0] for row in rows]))


def _data(segments: Sequence[SegmentId]) -> Steps[dict[SegmentId, bytes]]:
    rows = yield from all_rows(
        "SELECT id, data FROM inline_segment WHERE id = ANY (:segments)", segments=list(segments)
    )
    return dict(rows)


def _first(sizes: Sequence[tuple[SegmentId, int]], bytes_max: int) -> list[SegmentId]:
    """As many as fit into `bytes_max`, but at least one."""
    taken: list[SegmentId] = []
    total = 0
    for segment, size in sizes:
        total += size
        if taken and total > bytes_max:
            break
        taken.append(segment)
    return taken


def _check_committed(segment: SegmentId) -> Steps[None]:
    (state,) = yield from one_row("SELECT state FROM segment WHERE id = :segment", segment=segment)
    if state == SegmentState.ABANDONED:
        raise SegmentAbandoned(f"segment {segment} was given up before its move was committed: move the bytes anew")


def _move_spans(move: InlineMove) -> Steps[None]:
    ats = {(span.partition, span.last_offset): span.at for span in move.spans}
    rows = yield from all_rows(_STILL_INLINE, segments=sorted({span.segment for span in move.spans}))
    found = [span for span in map(StillInline._make, rows) if (span.partition, span.last_offset) in ats]
    replaced, absorbed = moved_rows(found, ats)
    yield from _write(move.segment, replaced, absorbed)
    yield from changed(
        "UPDATE segment SET span_count = :spans, dead_since_ms = CASE WHEN :spans = 0 THEN now_ms() END"
        " WHERE id = :segment",
        spans=len(replaced),
        segment=move.segment,
    )
    yield from release(Counter(span.segment for span in found))


def _write(segment: SegmentId, replaced: Sequence[Replaced], absorbed: Sequence[SpanKey]) -> Steps[None]:
    if absorbed:
        columns = {
            "partition": [partition for partition, _ in absorbed],
            "last_offset": [last_offset for _, last_offset in absorbed],
        }
        yield from for_each(columns, _REMOVE)
    if replaced:
        yield from for_each(
            {name: [row[n] for row in replaced] for n, name in enumerate(Replaced._fields)}, _REPLACE, segment=segment
        )
