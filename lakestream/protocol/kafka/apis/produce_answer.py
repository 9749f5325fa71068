"""The pending answer to a Produce request, until its batches are stored.

It counts the batches that have no result yet. The last one sends the answer, or the timeout does. A partition whose
batch is under way reads "timed out" until the batch is stored, so a timeout only has to send the answer.
"""

from __future__ import annotations

import asyncio
from functools import partial

from lakestream.broker.produce import stored
from lakestream.model.errors import LakestreamError, NotInTransaction, StoreUnavailable
from lakestream.model.segment import BatchResult
from lakestream.protocol.kafka.api import CloseConnection, Response, Started
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import produce
from lakestream.storage.records.errors import BadBatch

TIMEOUT_MS_MAX = 120_000
"""Longer than a flush can take with all its retries, so that every wait ends."""
TIMEOUT_MS_MIN = 1_000
"""Kafka counts only its waiting for followers. Here the whole way to durable storage counts, so a client that allows a
few milliseconds is not refused because of a flush."""

NO_OFFSET = -1
_TIMED_OUT = int(KafkaError.REQUEST_TIMED_OUT)
_TIMED_OUT_MESSAGE = "the batch was not durable in time; send it again"


class Answer:
    __slots__ = (
        "_done",
        "_failed",
        "_knows_abortable",
        "_silent",
        "_timeout_ms",
        "_timer",
        "_topics",
        "_under_way",
        "response",
    )

    def __init__(self, *, silent: bool, timeout_ms: int, knows_abortable: bool = False) -> None:
        """`silent`: acks=0. Nothing is sent; if a batch fails the connection is closed. `knows_abortable`: the client
        knows the error after which it aborts its transaction and goes on."""
        self._knows_abortable = knows_abortable
        self._topics: list[produce.TopicProduceResponse] = []
        self.response = produce.Response(responses=self._topics)
        self._silent = silent
        self._timeout_ms = min(max(timeout_ms, TIMEOUT_MS_MIN), TIMEOUT_MS_MAX)
        self._under_way = 0
        self._failed = False
        self._done: asyncio.Future[Response] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def topic(self, asked: produce.request.TopicProduceData) -> list[produce.PartitionProduceResponse]:
        """Begin a topic. Returns the list for its partitions."""
        partitions: list[produce.PartitionProduceResponse] = []
        self._topics.append(
            produce.TopicProduceResponse(name=asked.name, topic_id=asked.topic_id, partition_responses=partitions)
        )
        return partitions

    def expect(self, slot: produce.PartitionProduceResponse, batch: asyncio.Future[BatchResult]) -> None:
        self._under_way += 1
        slot.error_code, slot.error_message, slot.base_offset = _TIMED_OUT, _TIMED_OUT_MESSAGE, NO_OFFSET
        batch.add_done_callback(partial(self._landed, slot))

    def refuse(self, slot: produce.PartitionProduceResponse, error: LakestreamError) -> None:
        self._failed = True
        slot.error_code, slot.error_message = kafka_error(error)
        if self._knows_abortable and isinstance(error, NotInTransaction):
            slot.error_code = int(KafkaError.TRANSACTION_ABORTABLE)
        slot.base_offset = NO_OFFSET
        if isinstance(error, BadBatch) and error.record_errors:
            slot.record_errors = [
                produce.BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=message)
                for index, message in error.record_errors
            ]

    def started(self) -> Started:
        """All batches are on their way. Returns the response if there is nothing to wait for, else a future of it."""
        if not self._under_way:
            if self._silent and self._failed:
                raise CloseConnection("a batch sent with acks=0 was refused")
            return None if self._silent else self.response
        loop = asyncio.get_running_loop()
        self._done = loop.create_future()
        self._timer = loop.call_later(self._timeout_ms / 1000, self._timed_out)
        return self._done

    def _landed(self, slot: produce.PartitionProduceResponse, batch: asyncio.Future[BatchResult]) -> None:
        """A batch that the store refused needs a log start, too. Without one, Java's producer treats
        UNKNOWN_PRODUCER_ID as temporary and sends the same batch again until it gives up; it should start over with a
        new producer id."""
        self._under_way -= 1
        try:
            landed = batch.result()
            slot.log_start_offset = landed.log_start
            result = stored(landed)
        except LakestreamError as error:
            self.refuse(slot, error)
        except asyncio.CancelledError:
            self.refuse(slot, StoreUnavailable("the broker is shutting down; another one will take the batch"))
        else:
            slot.error_code, slot.error_message = 0, None
            slot.base_offset, slot.log_append_time, slot.log_start_offset = result
        if not self._under_way and self._done is not None:
            self._finish(self._done)

    def _timed_out(self) -> None:
        self._failed = True
        if self._done is not None:
            self._finish(self._done)

    def _finish(self, done: asyncio.Future[Response]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if done.done():
            return  # the timeout has sent it, or the connection is gone
        if self._silent and self._failed:
            done.set_exception(CloseConnection("a batch sent with acks=0 was refused"))
        else:
            done.set_result(None if self._silent else self.response)
