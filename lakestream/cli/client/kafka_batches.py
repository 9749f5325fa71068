"""Fetches a topic's raw batches, for commands that handle more records than people read."""

from lakestream.cli.client.kafka_client import FETCH, KafkaClient, check
from lakestream.cli.client.kafka_log import EARLIEST, offsets
from lakestream.protocol.kafka.errors import KafkaError

_FETCH_WAIT_MS = 500
_FETCH_BYTES_MAX = 16 * 1024 * 1024


class TopicBatches:
    def __init__(self, kafka: KafkaClient, topic: str) -> None:
        self._kafka = kafka
        self._topic = topic

    def fetch(self, partition: int, offset: int) -> memoryview | None:
        """Whole batches from `offset` on; None if there is no such offset."""
        structs = self._kafka.structs(FETCH)
        asked = structs.FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=_FETCH_BYTES_MAX)
        answer = self._kafka.call(
            FETCH,
            max_wait=_FETCH_WAIT_MS,
            min_bytes=1,
            max_bytes=_FETCH_BYTES_MAX,
            topics=[structs.FetchTopic(topic=self._topic, partitions=[asked])],
        )
        check(answer.error_code, None, f"fetch from '{self._topic}'")
        [found] = [each for response in answer.responses for each in response.partitions]
        if found.error_code == KafkaError.OFFSET_OUT_OF_RANGE:
            return None
        check(found.error_code, None, f"fetch from '{self._topic}' partition {partition} at offset {offset}")
        return memoryview(found.records or b"")

    def earliest(self, partition: int) -> int:
        return offsets(self._kafka, self._topic, [partition], EARLIEST)[partition]
