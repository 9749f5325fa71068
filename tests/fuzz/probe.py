"""A producer and a consumer beside the fuzzing. Each record must arrive; its wait is counted in hostile frames."""

import asyncio
from typing import Any

from kio.index import load_entity_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader
from kio.static.constants import EntityType

from tests.integration.kafka.batches import batch, records
from tests.integration.kafka.wire_client import fetch_request, produce_request, request_frame

from .hostile import Frames, Sent

TOPIC = "probed"
PRODUCE, FETCH = (0, 9), (1, 12)


class Probe:
    def __init__(self, producer: Frames, consumer: Frames, sent: Sent) -> None:
        self._producer = producer
        self._consumer = consumer
        self._sent = sent
        self.records = 0
        self.worst_wait = 0
        """The most frames that were sent between the beginning of a produce and the end of the fetch that found it."""

    @classmethod
    async def connect(cls, host: str, port: int, sent: Sent) -> "Probe":
        connections = [Frames(*await asyncio.open_connection(host, port)) for _ in range(2)]
        return cls(connections[0], connections[1], sent)

    async def run(self) -> None:
        while True:
            began = self._sent.frames
            await self._one_record(b"%d" % self.records)
            self.records += 1
            self.worst_wait = max(self.worst_wait, self._sent.frames - began)

    async def _one_record(self, value: bytes) -> None:
        produce = produce_request({TOPIC: {0: batch([value])}})
        ((stored,),) = [each.partition_responses for each in (await _call(self._producer, PRODUCE, produce)).responses]
        assert stored.error_code.value == 0, stored
        assert stored.base_offset == self.records, "somebody else wrote into the topic of the probe"
        fetch = fetch_request({TOPIC: {0: self.records}}, max_wait=500)
        ((found,),) = [each.partitions for each in (await _call(self._consumer, FETCH, fetch)).responses]
        assert [each.value for each in records(found.records)] == [value], found

    def close(self) -> None:
        self._producer.close()
        self._consumer.close()


async def _call(connection: Frames, api: tuple[int, int], body: Any) -> Any:
    payload = await connection.call(request_frame(*api, body))
    schema = load_entity_schema(api_key_map[api[0]], api[1], EntityType.response)
    _, at = entity_reader(schema.__header_schema__)(payload, 0)
    return entity_reader(schema)(payload, at)[0]
