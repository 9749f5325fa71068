"""A batch on its way into the log, and the future through which its producer gets the result."""

import asyncio
from dataclasses import dataclass

from lakestream.model.segment import NOT_TRANSACTIONAL, BatchResult
from lakestream.model.topic import PartitionId, TopicId
from lakestream.world.objects.store import Buffer


@dataclass(frozen=True, slots=True, kw_only=True)
class WalBatch:
    """One validated record batch, its bytes as the client sent them."""

    topic_id: TopicId
    partition_index: int
    partition: PartitionId
    data: Buffer
    records: int
    max_timestamp_ms: int
    log_append_time: bool
    producer_id: int
    producer_epoch: int
    base_sequence: int
    transaction: int = NOT_TRANSACTIONAL


@dataclass(slots=True, kw_only=True)
class Pending:
    """A batch in the WAL, not yet answered. `tried_at` is set once a commit found it out of order."""

    batch: WalBatch
    answer: "asyncio.Future[BatchResult]"
    buffered_at: float
    tried_at: float | None = None
    retry_at: float = 0.0
