"""The produce verb: raw batches through the gates into the WAL, whoever calls it."""

import asyncio
import gc
import random
import weakref
from collections.abc import Awaitable, Callable

from lakestream.broker.broker import Broker
from lakestream.broker.produce import Outcome, RawBatch, TopicKey, stored
from lakestream.broker.topics import NewTopic
from lakestream.model.errors import InvalidRequest, LakestreamError, UnknownPartition, UnknownTopic
from lakestream.model.segment import BatchStatus
from lakestream.storage.records.errors import CorruptBatch, InvalidRecord
from lakestream.testing.local import LocalLakestream
from tests.integration.kafka.batches import GZIP, batch

TOPIC = TopicKey("orders")
HEAVY = batch([random.Random(7).randbytes(20_000)], codec=GZIP)


def with_broker(check: Callable[[Broker], Awaitable[None]]) -> None:
    async def run() -> None:
        async with LocalLakestream() as local:
            (broker,) = local.brokers
            await broker.topics.create(NewTopic(name="orders", partitions=3))
            await check(broker)

    asyncio.run(run())


async def offset(outcome: Outcome) -> int:
    assert not isinstance(outcome, LakestreamError)
    return stored(await outcome).base_offset


def test_light_batches_are_taken_at_once_in_the_order_of_the_calls() -> None:
    async def check(broker: Broker) -> None:
        taken = [broker.producing.produce([RawBatch(TOPIC, 0, batch([b"a", b"b"]))]) for _ in range(3)]
        assert [await offset(one) for outcomes in taken if isinstance(outcomes, list) for one in outcomes] == [0, 2, 4]

    with_broker(check)


def test_a_heavy_batch_is_in_the_log_before_the_next_call() -> None:
    async def check(broker: Broker) -> None:
        assert broker.producing.gate.is_heavy(HEAVY, (await broker.directory.find("orders")).config)
        heavy = broker.producing.produce([RawBatch(TOPIC, 0, HEAVY), RawBatch(TOPIC, 1, batch())])
        assert not isinstance(heavy, list)
        first, beside = await heavy
        light = broker.producing.produce([RawBatch(TOPIC, 0, batch())])
        assert isinstance(light, list)
        assert [await offset(one) for one in (first, beside, *light)] == [0, 0, 1]

    with_broker(check)


def test_a_refused_batch_does_not_touch_the_others() -> None:
    async def check(broker: Broker) -> None:
        good = batch()
        taking = broker.producing.produce(
            [
                RawBatch(TOPIC, 0, good[:-1]),
                RawBatch(TOPIC, 1, good),
                RawBatch(TOPIC, 1, good),
                RawBatch(TOPIC, 2, None),
                RawBatch(TOPIC, 3, good),
                RawBatch(TopicKey("nobody"), 0, good),
                RawBatch(TopicKey("nobody"), 1, batch(transactional=True)),
            ]
        )
        assert not isinstance(taking, list), "a topic that is not known is looked up"
        outcomes = await taking
        assert await offset(outcomes[1]) == 0
        kinds = [type(one) for one in outcomes]
        assert [kinds[0], *kinds[2:]] == [
            CorruptBatch,
            InvalidRequest,
            InvalidRecord,
            UnknownPartition,
            UnknownTopic,
            UnknownTopic,
        ]

    with_broker(check)


def test_a_transactional_batch_of_an_unknown_producer_is_refused_when_it_would_get_its_offset() -> None:
    async def check(broker: Broker) -> None:
        outcomes = broker.producing.produce([RawBatch(TOPIC, 0, batch(transactional=True, producer=(1, 0, 0)))])
        assert isinstance(outcomes, list)
        assert not isinstance(outcomes[0], LakestreamError)
        assert (await outcomes[0]).status is BatchStatus.UNKNOWN_TRANSACTION

    with_broker(check)


def test_a_refused_batch_leaves_nothing_to_the_garbage_collector() -> None:
    async def check(broker: Broker) -> None:
        gc.disable()
        try:
            outcomes = broker.producing.produce([RawBatch(TOPIC, 0, batch()[:-1])])
            assert isinstance(outcomes, list)
            refused = weakref.ref(outcomes[0])
            del outcomes
            assert refused() is None
        finally:
            gc.enable()

    with_broker(check)
