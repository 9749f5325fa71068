"""Requests that ask for much: nobody else waits for them, and what comes twice does not cost twice."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lakestream.broker.produce import BATCHES_AT_ONCE
from lakestream.model.caller import ANONYMOUS, Caller
from lakestream.protocol.kafka.api import ApiTable, RequestContext
from lakestream.protocol.kafka.apis import api_32_describe_configs
from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.kafka.wire import messages
from lakestream.world.turns import ELEMENTS_PER_TURN

from .batches import batch, records
from .running import Running
from .wire_client import WireClient

INVALID_REQUEST = 42
TOPIC = 2
MANY = 5_000
BY_KEY = {api.key: api for api in APIS}


def configs_of(topic: str, times: int) -> Any:
    api = messages.api(32)
    asked = api.request.DescribeConfigsResource(resource_type=TOPIC, resource_name=topic, configuration_keys=None)
    return api.Request(resources=[asked] * times, include_synonyms=True, include_documentation=True)


def no_records_of(topic: str) -> Any:
    api = messages.api(0)
    parts = [api.request.PartitionProduceData(index=index, records=None) for index in range(BATCHES_AT_ONCE + 1)]
    return api.Request(acks=-1, topic_data=[api.request.TopicProduceData(name=topic, partition_data=parts)])


LONG: dict[str, tuple[int, int, Callable[[str], Any]]] = {
    "configs": (32, 4, lambda topic: configs_of(topic, MANY)),
    "batches": (0, 9, no_records_of),
    "groups": (15, 5, lambda _: messages.api(15).Request(groups=[""] * MANY)),
    "coordinators": (10, 4, lambda _: messages.api(10).Request(coordinator_keys=[str(at) for at in range(MANY)])),
}
"""None of them waits for anything: whoever has a turn meanwhile was given it."""


@pytest.mark.parametrize("what", LONG)
def test_others_have_their_turns_while_one_asks_for_much(what: str, topic: str, lakestream: Running) -> None:
    key, version, request = LONG[what]
    context = RequestContext(
        api_version=version,
        client_id=None,
        caller=Caller(principal=ANONYMOUS, listener="", host="", port=0),
        broker=lakestream.local.brokers[0],
        apis=ApiTable(APIS),
    )

    async def turns() -> int:
        handle: Callable[[Any, RequestContext], Awaitable[Any]] = BY_KEY[key].handle or BY_KEY[key].start  # type: ignore[assignment]
        handled = asyncio.ensure_future(handle(request(topic), context))
        count = 0
        while not handled.done():
            await asyncio.sleep(0)
            count += 1
        await handled
        return count

    lakestream.run(lakestream.local.brokers[0].directory.refresh())  # and it knows the topic
    assert lakestream.run(turns()) >= MANY // ELEMENTS_PER_TURN


def test_a_partition_that_is_fetched_twice_is_answered_once_from_its_last_offset(
    topic: str, client: WireClient
) -> None:
    for value in (b"first", b"second"):
        client.produce(topic, batch([value]))
    api = messages.api(1)
    asked = [
        api.request.FetchTopic(
            topic=topic,
            partitions=[
                api.request.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
                for offset in offsets
            ],
        )
        for offsets in ((0, 0), (0, 1))
    ]
    body = api.Request(max_wait=0, min_bytes=1, max_bytes=1 << 20, session_epoch=-1, topics=asked)
    ((answer,),) = [each.partitions for each in client.call(1, 12, body).responses]
    assert [each.value for each in records(answer.records)] == [b"second"]


def test_a_partition_whose_offset_is_asked_for_twice_is_refused_once(topic: str, client: WireClient) -> None:
    api = messages.api(2)
    parts = [api.request.ListOffsetsPartition(partition_index=index, timestamp=-1) for index in (0, 1, 0)]
    body = api.Request(replica_id=-1, topics=[api.request.ListOffsetsTopic(name=topic, partitions=parts)])
    ((one, other),) = [each.partitions for each in client.call(2, 7, body).topics]
    assert (one.partition_index, one.error_code.value) == (0, INVALID_REQUEST)
    assert (other.partition_index, other.error_code.value, other.offset) == (1, 0, 0)


def test_a_topic_that_is_asked_for_twice_is_answered_once(topic: str, client: WireClient) -> None:
    api = messages.api(3)
    answer = client.call(3, 9, api.Request(topics=[api.request.MetadataRequestTopic(name=topic)] * 2))
    assert [each.name for each in answer.topics] == [topic]


def test_more_configs_than_fit_an_answer_are_refused(
    topic: str, client: WireClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_32_describe_configs, "ANSWER_BYTES_MAX", 100_000)
    for times, code in ((5, 0), (50, INVALID_REQUEST)):
        results = client.call(32, 4, configs_of(topic, times)).results
        assert [each.error_code.value for each in results] == [code] * times
