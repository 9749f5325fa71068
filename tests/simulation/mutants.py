"""Mutants of the log: one safeguard taken out. A simulation that cannot tell them from the real thing proves nothing.

name -> (the mix of faults that should expose it, what to break)
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from lakestream.broker import fetch
from lakestream.metadata.rules import placing
from lakestream.metadata.rules.sequencing import judge
from lakestream.metadata.sqlite import committing
from lakestream.metadata.store import MetadataStore
from lakestream.metadata.verbs import dropping, inline
from lakestream.metadata.verbs.garbage import GarbageVerbs
from lakestream.metadata.verbs.running import reads
from lakestream.metadata.verbs.steps import Steps, all_rows, changed
from lakestream.model.errors import LakestreamError, OffsetOutOfRange
from lakestream.model.place import PartitionView, Span
from lakestream.model.segment import Abandoned, BatchResult, BatchStatus, Committed, SegmentCommit, SegmentFate
from lakestream.storage.garbage import duties
from lakestream.storage.index.index import Index
from lakestream.storage.reader import placed
from lakestream.storage.records.header import HEADER_BYTES
from lakestream.storage.wal import mover, receipts
from lakestream.storage.wal.flusher import Wal
from lakestream.storage.wal.receipts import Receipts
from lakestream.storage.wal.segment import BATCHES_AT, Receipt, segment_key, segment_of_key
from lakestream.world.objects.store import ObjectStore

_GAPS = (BatchStatus.OUT_OF_ORDER, BatchStatus.UNKNOWN_PRODUCER)

Break = Callable[[pytest.MonkeyPatch], None]


class Mutant(NamedTuple):
    mix: str
    break_it: Break
    kind: str = "log"
    seed: int | None = None
    """One that found it out, where the first ones do not. A hint: worlds change with the code, so others are tried."""


def no_steps(*_: object) -> Steps[None]:
    yield from ()


def _a_repeated_commit_is_placed_again(patch: pytest.MonkeyPatch) -> None:
    commit_segment = committing.commit_segment

    def commit_again(connection: sqlite3.Connection, commit: SegmentCommit, now_ms: int) -> SegmentFate:
        connection.execute("DELETE FROM segment WHERE id = ?", (commit.segment,))
        return commit_segment(connection, commit, now_ms)

    patch.setattr(committing, "commit_segment", commit_again)


def _a_broker_without_lease_may_commit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(committing, "check_lease", no_steps)


def _an_unknown_object_is_deleted_but_not_abandoned(patch: pytest.MonkeyPatch) -> None:
    async def delete_unknown(store: MetadataStore, objects: ObjectStore, grace_ms: int) -> int:
        segments = [segment_of_key(info.key) or "" async for info in objects.list("wal/")]
        unknown = await store.unknown_segments(segments)
        await objects.delete([segment_key(segment) for segment in unknown])
        return len(unknown)

    patch.setattr(duties, "abandon_unknown_objects", delete_unknown)


def _an_abandoned_segment_may_still_be_committed(patch: pytest.MonkeyPatch) -> None:
    fate_of = committing._fate

    def forgetful(connection: sqlite3.Connection, segment: str) -> SegmentFate | None:
        fate = fate_of(connection, segment)
        if isinstance(fate, Abandoned):
            connection.execute("DELETE FROM segment WHERE id = ?", (segment,))
            return None
        return fate

    patch.setattr(committing, "_fate", forgetful)


def _own_commits_extend_a_view_over_a_gap(patch: pytest.MonkeyPatch) -> None:
    def extend(self: Index, partition: int, spans: Sequence[Span]) -> None:
        if (kept := self._kept.get(partition)) is not None:
            kept.spans.extend(spans)
            kept.tail = kept.tail._replace(next_offset=spans[-1].last_offset + 1)

    patch.setattr(Index, "extend", extend)


def _sequences_are_not_checked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(placing, "judge", lambda *_: judge(None, 0, 0, 1))


def _only_repeats_are_recognised_not_gaps(patch: pytest.MonkeyPatch) -> None:
    def lenient(state: Any, epoch: int, base_sequence: int, records: int) -> Any:
        verdict = judge(state, epoch, base_sequence, records)
        return judge(None, 0, 0, 1) if verdict.status in _GAPS else verdict

    patch.setattr(placing, "judge", lenient)


def _out_of_range_is_concluded_from_an_old_view(patch: pytest.MonkeyPatch) -> None:
    look = fetch.Fetching._fresh

    async def hasty(self: fetch.Fetching, ask: fetch.FetchAsk) -> PartitionView | LakestreamError:
        kept = self._index._kept.get(ask.partition)
        if kept is not None and ask.offset > kept.tail.next_offset:
            return OffsetOutOfRange("by an old view")
        return await look(self, ask)

    patch.setattr(fetch.Fetching, "_fresh", hasty)


def _a_segment_dies_with_its_first_span(patch: pytest.MonkeyPatch) -> None:
    def release_too_early(span_counts: Mapping[str, int]) -> Steps[None]:
        yield from changed(
            "UPDATE segment SET span_count = 0, dead_since_ms = now_ms() WHERE id = ANY (:segments)",
            segments=list(span_counts),
        )

    patch.setattr(dropping, "release", release_too_early)


def _receipts_go_while_they_are_needed(patch: pytest.MonkeyPatch) -> None:
    @reads
    def deletable(self: GarbageVerbs, grace_ms: int, limit: int) -> Steps[list[str]]:
        rows = yield from all_rows(
            "SELECT id FROM segment WHERE dead_since_ms < now_ms() - :grace_ms AND object_deleted_ms IS NULL"
            " LIMIT :limit",
            grace_ms=grace_ms,
            limit=limit,
        )
        return [row[0] for row in rows]

    patch.setattr(GarbageVerbs, "deletable_segments", deletable)


def _a_refused_batch_does_not_split_its_span(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(placing, "_continues", lambda span, batch: batch.append_ms == span.append_ms)


def _log_append_time_is_not_shown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(placed, "log_append_header", lambda data, append_ms: bytearray(data[:HEADER_BYTES]))


def _a_commit_that_was_not_answered_is_acknowledged(patch: pytest.MonkeyPatch) -> None:
    ask = Wal._ask_fate

    async def hopeful(self: Wal, *args: Any) -> SegmentFate:
        try:
            return await ask(self, *args)
        except LakestreamError:
            placed_at_0 = tuple(BatchResult(BatchStatus.STORED, 0, -1, 0) for _ in args[0].batches)
            return Committed(results=placed_at_0)

    patch.setattr(Wal, "_ask_fate", hopeful)


def _receipts_of_a_failed_flush_are_lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Receipts, "give_back", lambda self, receipts, now: None)


def _receipts_tell_where_the_segment_began(patch: pytest.MonkeyPatch) -> None:
    """And not where each of its runs did: right as long as a segment has one for each partition."""

    def receipt(topic_id: bytes, index: int, span: Span) -> Receipt:
        return true(topic_id, index, span)._replace(at=BATCHES_AT)

    true = receipts._receipt
    patch.setattr(receipts, "_receipt", receipt)


def _moved_bytes_lie_a_byte_further(patch: pytest.MonkeyPatch) -> None:
    true = mover.laid_out

    def laid_out(*args: Any, **named: Any) -> Any:
        parts, move = true(*args, **named)
        return parts, replace(move, spans=[span._replace(at=span.at + 1) for span in move.spans])

    patch.setattr(mover, "laid_out", laid_out)


def _a_move_frees_all_inline_bytes(patch: pytest.MonkeyPatch) -> None:
    """And not only those that no span refers to any more."""

    def release_all(span_counts: Mapping[str, int]) -> Steps[None]:
        yield from dropping.release(span_counts)
        yield from changed("DELETE FROM inline_segment")

    patch.setattr(inline, "release", release_all)


LOG_MUTANTS: Mapping[str, Mutant] = {
    "a repeated commit is placed again": Mutant("lossy store", _a_repeated_commit_is_placed_again),
    "a broker without lease may commit": Mutant("zombies", _a_broker_without_lease_may_commit),
    "an unknown object is deleted but not abandoned": Mutant(
        "lossy store", _an_unknown_object_is_deleted_but_not_abandoned
    ),
    "an abandoned segment may still be committed": Mutant("lossy store", _an_abandoned_segment_may_still_be_committed),
    "own commits extend a view over a gap": Mutant("movers", _own_commits_extend_a_view_over_a_gap),
    "sequences are not checked": Mutant("movers", _sequences_are_not_checked),
    "only repeats are recognised, not gaps": Mutant("movers", _only_repeats_are_recognised_not_gaps),
    "out of range is concluded from an old view": Mutant("movers", _out_of_range_is_concluded_from_an_old_view),
    "a segment dies with its first span": Mutant("deletions", _a_segment_dies_with_its_first_span),
    "receipts go while they are needed": Mutant("big batches", _receipts_go_while_they_are_needed),
    "receipts of a failed flush are lost": Mutant("lossy objects", _receipts_of_a_failed_flush_are_lost),
    "receipts tell where the segment began": Mutant("movers", _receipts_tell_where_the_segment_began),
    "a refused batch does not split its span": Mutant("movers", _a_refused_batch_does_not_split_its_span),
    "moved bytes lie a byte further": Mutant("movers", _moved_bytes_lie_a_byte_further),
    "a move frees all inline bytes": Mutant("movers", _a_move_frees_all_inline_bytes),
    "log-append time is not shown": Mutant("log append", _log_append_time_is_not_shown),
    "a commit that was not answered is acknowledged": Mutant(
        "lossy store", _a_commit_that_was_not_answered_is_acknowledged
    ),
}
