"""The answer to a Produce request: sent by the last batch to land, or by the timeout."""

import asyncio
from typing import Any

import pytest

from lakestream.model.errors import StoreUnavailable
from lakestream.model.segment import BatchResult, BatchStatus
from lakestream.protocol.kafka.api import CloseConnection
from lakestream.protocol.kafka.apis import produce_answer
from lakestream.protocol.kafka.apis.produce_answer import Answer
from lakestream.protocol.kafka.wire import messages
from lakestream.storage.records.errors import InvalidRecord, RecordError

_produce = messages.api(0)
STORED = BatchResult(BatchStatus.STORED, 42, -1, 7)
TIMED_OUT = 7


class Request:
    """An answer with batches under way."""

    def __init__(self, batches: int, *, silent: bool = False, timeout_ms: int = 10_000) -> None:
        self.answer = Answer(silent=silent, timeout_ms=timeout_ms)
        self.slots = self.answer.topic(_produce.request.TopicProduceData(name="t"))
        self.batches: list[asyncio.Future[BatchResult]] = []
        for index in range(batches):
            self.slots.append(_produce.PartitionProduceResponse(index=index))
            self.batches.append(asyncio.get_running_loop().create_future())
            self.answer.expect(self.slots[-1], self.batches[-1])

    def codes(self) -> list[int]:
        return [slot.error_code for slot in self.slots]


def test_the_last_batch_to_land_answers() -> None:
    async def check() -> None:
        request = Request(3)
        started: Any = request.answer.started()
        for batch in (request.batches[2], request.batches[0]):
            batch.set_result(STORED)
            await asyncio.sleep(0)
            assert not started.done()
        request.batches[1].set_result(STORED)
        response = await asyncio.wait_for(started, 1)
        assert response is request.answer.response
        assert request.codes() == [0, 0, 0]
        assert (request.slots[1].base_offset, request.slots[1].log_start_offset) == (42, 7)

    asyncio.run(check())


def test_a_failed_batch_does_not_touch_the_others() -> None:
    async def check() -> None:
        request = Request(4)
        started: Any = request.answer.started()
        request.batches[0].set_result(STORED)
        request.batches[1].set_exception(StoreUnavailable("gone"))
        request.batches[2].set_result(BatchResult(BatchStatus.OUT_OF_ORDER, -1, -1, 0))
        request.batches[3].cancel()
        await asyncio.wait_for(started, 1)
        assert request.codes() == [0, 7, 45, 7]
        assert [slot.base_offset for slot in request.slots] == [42, -1, -1, -1]

    asyncio.run(check())


def test_a_refused_batch_is_told_where_the_log_starts() -> None:
    """Java's producer sends a batch of an unknown producer again and again, as it is, while it does not know that."""

    async def check() -> None:
        request = Request(1)
        started: Any = request.answer.started()
        request.batches[0].set_result(BatchResult(BatchStatus.UNKNOWN_PRODUCER, -1, -1, 7))
        await asyncio.wait_for(started, 1)
        assert (request.codes(), request.slots[0].log_start_offset) == ([59], 7)

    asyncio.run(check())


def test_a_timeout_answers_for_those_still_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(produce_answer, "TIMEOUT_MS_MIN", 10)

    async def check() -> None:
        request = Request(2, timeout_ms=10)
        started: Any = request.answer.started()
        request.batches[0].set_result(STORED)
        await asyncio.wait_for(started, 5)
        assert request.codes() == [0, TIMED_OUT]
        assert request.slots[1].base_offset == -1
        request.batches[1].set_result(STORED)  # too late, and no fault
        await asyncio.sleep(0)

    asyncio.run(check())


def test_timeouts_are_bounded_from_below_and_above() -> None:
    async def seconds(timeout_ms: int) -> float:
        request = Request(1, timeout_ms=timeout_ms)
        now = asyncio.get_running_loop().time()
        request.answer.started()
        assert request.answer._timer is not None
        return request.answer._timer.when() - now

    assert 0.9 < asyncio.run(seconds(0)) < 5
    assert 0.9 < asyncio.run(seconds(-1)) < 5
    assert 119 < asyncio.run(seconds(2**31 - 1)) < 130


def test_nothing_to_wait_for_is_answered_at_once() -> None:
    request_answer = Answer(silent=False, timeout_ms=1000)
    slot = _produce.PartitionProduceResponse()
    request_answer.refuse(slot, InvalidRecord("bad", (RecordError(3, "why"),)))
    assert request_answer.started() is request_answer.response
    assert (slot.error_code, slot.error_message, slot.base_offset) == (87, "bad", -1)
    assert [(each.batch_index, each.batch_index_error_message) for each in slot.record_errors] == [(3, "why")]


def test_a_silent_answer_is_nothing_or_a_closed_connection() -> None:
    async def check() -> None:
        good, bad = Request(1, silent=True), Request(2, silent=True)
        starts: list[Any] = [good.answer.started(), bad.answer.started()]
        good.batches[0].set_result(STORED)
        bad.batches[0].set_result(STORED)
        bad.batches[1].set_exception(StoreUnavailable("gone"))
        assert await asyncio.wait_for(starts[0], 1) is None
        with pytest.raises(CloseConnection):
            await asyncio.wait_for(starts[1], 1)

    asyncio.run(check())
    refused = Answer(silent=True, timeout_ms=1000)
    refused.refuse(_produce.PartitionProduceResponse(), InvalidRecord("bad"))
    with pytest.raises(CloseConnection):
        refused.started()
