"""Produces and fetches through the Kafka client: offsets, batches in, records out."""

from collections.abc import Iterator, Mapping, Sequence

from lakestream.cli.client.kafka_client import FETCH, LIST_OFFSETS, METADATA, PRODUCE, KafkaClient, check
from lakestream.cli.client.kafka_records import ConsumedRecord, build_batch, read_batches
from lakestream.storage.records.header import Codec

EARLIEST, LATEST = -2, -1
_ALL_REPLICAS = -1
_PRODUCE_MS_MAX = 30_000
_FETCH_WAIT_MS = 500
_FETCH_BYTES_MAX = 16 * 1024 * 1024


def partition_count(kafka: KafkaClient, topic: str, *, create: bool) -> int:
    """The topic's number of partitions. With `create`, the broker may create the topic, if its settings allow it."""
    asked = [kafka.structs(METADATA).MetadataRequestTopic(name=topic)]
    [found] = kafka.call(METADATA, topics=asked, allow_auto_topic_creation=create).topics
    check(found.error_code, None, f"topic '{topic}'")
    return len(found.partitions)


def offsets(kafka: KafkaClient, topic: str, partitions: Sequence[int], timestamp: int) -> dict[int, int]:
    """The offset at a timestamp (ms, or EARLIEST or LATEST) by partition; -1 if there is none."""
    structs = kafka.structs(LIST_OFFSETS)
    asked = [structs.ListOffsetsPartition(partition_index=index, timestamp=timestamp) for index in partitions]
    answer = kafka.call(LIST_OFFSETS, replica_id=-1, topics=[structs.ListOffsetsTopic(name=topic, partitions=asked)])
    found: dict[int, int] = {}
    for partition in answer.topics[0].partitions:
        check(partition.error_code, None, f"offsets of '{topic}' partition {partition.partition_index}")
        found[partition.partition_index] = partition.offset
    return found


def produce(
    kafka: KafkaClient, topic: str, records: Mapping[int, Sequence[ConsumedRecord]], codec: Codec
) -> dict[int, int]:
    """Append to each partition, and return the first offset of each. The records are durable when this returns."""
    structs = kafka.structs(PRODUCE)
    data = [
        structs.PartitionProduceData(index=index, records=build_batch(batch, codec)) for index, batch in records.items()
    ]
    answer = kafka.call(
        PRODUCE,
        acks=_ALL_REPLICAS,
        timeout=_PRODUCE_MS_MAX,
        topic_data=[structs.TopicProduceData(name=topic, partition_data=data)],
    )
    bases: dict[int, int] = {}
    for partition in answer.responses[0].partition_responses:
        check(partition.error_code, partition.error_message, f"produce to '{topic}' partition {partition.index}")
        bases[partition.index] = partition.base_offset
    return bases


def fetch(
    kafka: KafkaClient, topic: str, positions: Mapping[int, int]
) -> Iterator[tuple[int, int, list[ConsumedRecord]]]:
    """One long poll: (partition, its next position, records from the old position on) for each with new records."""
    structs = kafka.structs(FETCH)
    asked = [
        structs.FetchPartition(partition=index, fetch_offset=at, partition_max_bytes=_FETCH_BYTES_MAX)
        for index, at in positions.items()
    ]
    answer = kafka.call(
        FETCH,
        max_wait=_FETCH_WAIT_MS,
        min_bytes=1,
        max_bytes=_FETCH_BYTES_MAX,
        topics=[structs.FetchTopic(topic=topic, partitions=asked)],
    )
    check(answer.error_code, None, f"fetch from '{topic}'")
    for partition in (each for response in answer.responses for each in response.partitions):
        index = partition.partition_index
        check(partition.error_code, None, f"fetch from '{topic}' partition {index} at offset {positions[index]}")
        for after, records in read_batches(memoryview(partition.records or b"")):
            yield index, after, [record for record in records if record.offset >= positions[index]]
