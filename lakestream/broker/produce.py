"""Produce: take validated batches into the WAL, and answer when they exist.

    gate -> wal.append -> (flush, commit) -> answer

Batches enter the WAL in the order in which they are given here. The answer is a future: it is filled
when the commit that gave the batch its offsets has returned, and not a moment before.
"""

import asyncio
from typing import NamedTuple

from lakestream.broker.directory import TopicEntry
from lakestream.model.errors import (
    DuplicateSequence,
    LakestreamError,
    OutOfOrderSequence,
    StaleProducerEpoch,
    UnknownPartition,
    UnknownProducer,
)
from lakestream.model.segment import BatchResult, BatchStatus
from lakestream.storage.records.validate import ValidBatch
from lakestream.storage.wal.batch import WalBatch
from lakestream.storage.wal.flusher import Wal


class Stored(NamedTuple):
    """Where the batch begins, and what else Kafka tells a producer."""

    base_offset: int
    append_ms: int
    log_start: int


def append(entry: TopicEntry, index: int, valid: ValidBatch, wal: Wal) -> "asyncio.Future[BatchResult]":
    """Give the batch to the WAL. Raises UnknownPartition."""
    header = valid.header
    return wal.append(
        WalBatch(
            topic_id=entry.topic.id,
            partition_index=index,
            partition=entry.partition(index),
            data=valid.data,
            records=header.record_count,
            max_timestamp_ms=valid.max_timestamp_ms,
            log_append_time=entry.config.log_append_time,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            base_sequence=header.base_sequence,
        )
    )


def stored(result: BatchResult) -> Stored:
    """What a producer is told of a stored batch, also of one stored before. Raises why it was not stored."""
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
}
