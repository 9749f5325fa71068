"""Produce: take raw batches through the gates into the WAL, and report the outcome of each.

    look up the topic -> gate -> value gate -> wal.append -> (flush, commit) -> result

- Batches enter the WAL in the order of the calls. A caller that must keep order, such as a connection, waits for one
  call to finish before it makes the next.
- A call finishes at once when all its batches are light and their topics are known. Heavy batches (compressed, large)
  are validated in a thread, and a topic with `lakestream.validate` has its values checked by the registry's schemas:
  such a call returns a coroutine.
- A refused batch does not affect the other batches of its call.
- The future of a batch is filled when the commit that gave the batch its offsets has returned, never earlier.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from lakestream.broker.directory import Directory, TopicEntry
from lakestream.broker.gate import Gate
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.broker.value_gate import ValueGate
from lakestream.model.errors import (
    DuplicateSequence,
    InvalidRequest,
    LakestreamError,
    NotInTransaction,
    OutOfOrderSequence,
    StaleProducerEpoch,
    StoreUnavailable,
    UnknownPartition,
    UnknownProducer,
    UnknownTransactionalId,
)
from lakestream.model.segment import ADDED_BEFORE, ADDED_BY_WRITING, NOT_TRANSACTIONAL, BatchResult, BatchStatus
from lakestream.model.topic import TopicId
from lakestream.storage.records.errors import InvalidRecord
from lakestream.storage.records.validate import ValidBatch
from lakestream.storage.wal.batch import WalBatch
from lakestream.storage.wal.lanes import WalLanes
from lakestream.world.objects.store import Buffer
from lakestream.world.turns import in_turns

BATCHES_AT_ONCE = 10_000
"""Batches of one call that are taken while other connections wait: a tenth of a second or so. Batches that are taken
together are stored together. No producer sends more in one request; beyond this, other connections run in between."""


class TopicKey(NamedTuple):
    """A topic as the caller names it. An id takes precedence over a name."""

    name: str | None
    id: TopicId = NO_TOPIC_ID


class RawBatch(NamedTuple):
    """A batch as the client sent it."""

    topic: TopicKey
    """Batches of one topic should share one value: the topic is looked up whenever the value changes."""
    partition_index: int
    data: Buffer | None
    """None: the caller was given a partition without records. It is refused."""


Outcome: TypeAlias = "asyncio.Future[BatchResult] | LakestreamError"
"""The outcome of a batch: it is on its way, or why it was refused."""

_NOT_TAKEN_YET = StoreUnavailable("the batch was not taken in; send it again")


class Stored(NamedTuple):
    """The batch's base offset, and the other facts that Kafka returns to a producer."""

    base_offset: int
    append_ms: int
    log_start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Producing:
    directory: Directory
    gate: Gate
    value_gate: ValueGate
    wal: WalLanes

    def produce(
        self,
        batches: Sequence[RawBatch],
        *,
        by_id: bool = False,
        zstd_allowed: bool = True,
        adds_partitions: bool = False,
    ) -> "list[Outcome] | Coroutine[Any, Any, list[Outcome]]":
        """Outcomes have the order of the batches. A coroutine must be awaited before the caller's next call.

        `by_id`: the caller names topics by their ids alone. `zstd_allowed`: the caller's protocol knows zstd.
        `adds_partitions`: a transactional batch adds its partition to the transaction, and begins one (KIP-890).
        """
        taking = _Taking(self, batches, by_id, zstd_allowed, adds_partitions)
        if len(batches) > BATCHES_AT_ONCE:
            return taking.in_turns()
        for batch in batches:
            taking.take(batch)
        return taking.rest() if taking.later else taking.outcomes


class _Taking:
    """One call of `produce`."""

    __slots__ = (
        "_batches",
        "_by",
        "_entry",
        "_lookup",
        "_seen",
        "_topic",
        "_transaction",
        "_zstd_allowed",
        "later",
        "outcomes",
    )

    def __init__(
        self, by: Producing, batches: Sequence[RawBatch], by_id: bool, zstd_allowed: bool, adds_partitions: bool
    ) -> None:
        self._by = by
        self._transaction = ADDED_BY_WRITING if adds_partitions else ADDED_BEFORE
        self._batches = batches
        self._zstd_allowed = zstd_allowed
        self._lookup = TopicLookup(by.directory, by_id=by_id)
        self._topic: TopicKey | None = None
        self._entry: TopicEntry | None = None
        """The entry of `_topic`, if it is known without asking the store."""
        self._seen: set[tuple[TopicKey, int]] = set()
        self.outcomes: list[Outcome] = []
        self.later: list[int] = []
        """Positions of batches whose topic must be looked up, or whose validation takes long."""

    def take(self, batch: RawBatch) -> None:
        """Take the batch at once, refuse it, or postpone it."""
        if batch.topic is not self._topic:
            self._topic = batch.topic
            self._entry = self._lookup.known(self._topic.name, self._topic.id)
        try:
            outcome = self._take_at_once(batch, self._entry)
        except LakestreamError as error:
            self.outcomes.append(_without_frames(error))
            return
        if outcome is None:
            self.later.append(len(self.outcomes))
        self.outcomes.append(_NOT_TAKEN_YET if outcome is None else outcome)

    async def in_turns(self) -> list[Outcome]:
        async for batch in in_turns(self._batches):
            self.take(batch)
        return await self.rest()

    async def rest(self) -> list[Outcome]:
        """Take the postponed batches. Their order does not matter, since partitions of one call are independent; all
        must be in before the next call."""
        checks = []
        async for position in in_turns(self.later):
            batch = self._batches[position]
            try:
                entry, _ = await self._lookup.partition(batch.topic.name, batch.topic.id, batch.partition_index)
            except LakestreamError as error:
                self.outcomes[position] = _without_frames(error)
            else:
                checks.append(self._check_and_take(position, batch, entry))
        await asyncio.gather(*checks)
        return self.outcomes

    def _take_at_once(self, batch: RawBatch, entry: TopicEntry | None) -> "asyncio.Future[BatchResult] | None":
        """None: the batch must be taken later. Raises the reason if it is refused."""
        topic, index, data = batch
        if (topic, index) in self._seen:
            raise InvalidRequest(f"partition {index} comes twice in one request; send its batches one after another")
        self._seen.add((topic, index))
        if data is None:
            raise InvalidRecord("there are no records: send one batch for each partition")
        if entry is None or not 0 <= index < len(entry.topic.partitions):
            return None
        gate = self._by.gate
        if gate.is_heavy(data, entry.config) or self._by.value_gate.guards(entry):
            return None
        return self._append(entry, index, gate.check(data, entry.config, zstd_allowed=self._zstd_allowed))

    async def _check_and_take(self, position: int, batch: RawBatch, entry: TopicEntry) -> None:
        try:
            self.outcomes[position] = self._append(entry, batch.partition_index, await self._checked(batch, entry))
        except LakestreamError as error:
            self.outcomes[position] = _without_frames(error)

    async def _checked(self, batch: RawBatch, entry: TopicEntry) -> ValidBatch:
        assert batch.data is not None, "a batch without records was refused before"
        gate, value_gate = self._by.gate, self._by.value_gate
        if gate.is_heavy(batch.data, entry.config):
            valid = await gate.check_in_thread(batch.data, entry.config, zstd_allowed=self._zstd_allowed)
        else:
            valid = gate.check(batch.data, entry.config, zstd_allowed=self._zstd_allowed)
        if value_gate.guards(entry):
            await value_gate.check(batch.data, entry)
        return valid

    def _append(self, entry: TopicEntry, index: int, valid: ValidBatch) -> "asyncio.Future[BatchResult]":
        """Give the batch to the WAL. The partition is known to exist."""
        header = valid.header
        return self._by.wal.append(
            WalBatch(
                topic_id=entry.topic.id,
                partition_index=index,
                partition=entry.topic.partitions[index],
                data=valid.data,
                records=header.record_count,
                max_timestamp_ms=valid.max_timestamp_ms,
                log_append_time=entry.config.log_append_time,
                producer_id=header.producer_id,
                producer_epoch=header.producer_epoch,
                base_sequence=header.base_sequence,
                transaction=self._transaction if header.is_transactional else NOT_TRANSACTIONAL,
            ),
            entry.config.profile,
        )


def _without_frames(error: LakestreamError) -> LakestreamError:
    """Drop the traceback. Frames refer to the outcomes, which refer to the error: the cycle would keep a refused batch
    in memory until a garbage collection."""
    return error.with_traceback(None)


def stored(result: BatchResult) -> Stored:
    """The answer to a producer for a stored batch or a duplicate. Raises the reason if it was not stored."""
    if result.status is BatchStatus.STORED or result.status is BatchStatus.DUPLICATE:
        return Stored(base_offset=result.base_offset, append_ms=result.append_ms, log_start=result.log_start)
    refusal, reason = _REFUSALS[result.status]
    raise refusal(reason)


_REFUSALS: dict[BatchStatus, tuple[type[LakestreamError], str]] = {
    BatchStatus.OUT_OF_ORDER: (OutOfOrderSequence, "an earlier batch of this producer is missing"),
    BatchStatus.UNKNOWN_PRODUCER: (UnknownProducer, "nothing is known of this producer here; it must begin anew"),
    BatchStatus.STALE_EPOCH: (StaleProducerEpoch, "a newer instance of this producer has written"),
    BatchStatus.DUPLICATE_TOO_OLD: (DuplicateSequence, "the batch was stored before"),
    BatchStatus.UNKNOWN_PARTITION: (UnknownPartition, "the partition was deleted"),
    BatchStatus.UNKNOWN_TRANSACTION: (UnknownTransactionalId, "no transactional id has this producer; begin again"),
    BatchStatus.NOT_IN_TRANSACTION: (NotInTransaction, "the transaction has ended, or the partition is not in it"),
}
