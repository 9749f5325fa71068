"""Administers topics through the Kafka client: create, list, describe, alter, delete."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakestream.cli.client.kafka_client import (
    ALTER_CONFIGS,
    CREATE_PARTITIONS,
    CREATE_TOPICS,
    DELETE_TOPICS,
    DESCRIBE_CONFIGS,
    METADATA,
    KafkaClient,
    check,
)
from lakestream.cli.client.kafka_log import EARLIEST, LATEST, offsets
from lakestream.model.topic import TopicId

_TOPIC_RESOURCE = 2
_SET, _DELETE = 0, 1
_BROKER_CHOOSES = -1
_ADMIN_MS_MAX = 30_000
_TOPIC_CONFIG_SOURCE = 1
"""Kafka's number for a config that was set on the topic itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfigEntry:
    name: str
    value: str | None
    is_set: bool
    meaning: str
    """The broker's description of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionEnds:
    index: int
    leader: int
    log_start: int
    next_offset: int


def create_topic(kafka: KafkaClient, name: str, partitions: int | None, config: Mapping[str, str]) -> None:
    structs = kafka.structs(CREATE_TOPICS)
    topic = structs.CreatableTopic(
        name=name,
        num_partitions=_BROKER_CHOOSES if partitions is None else partitions,
        replication_factor=_BROKER_CHOOSES,
        configs=[structs.CreatableTopicConfig(name=key, value=value) for key, value in config.items()],
    )
    [result] = kafka.call(CREATE_TOPICS, topics=[topic], timeout=_ADMIN_MS_MAX).topics
    check(result.error_code, result.error_message, f"create topic '{name}'")


def delete_topic(kafka: KafkaClient, name: str) -> None:
    [result] = kafka.call(DELETE_TOPICS, topic_names=[name], timeout=_ADMIN_MS_MAX).responses
    check(result.error_code, result.error_message, f"delete topic '{name}'")


def list_topics(kafka: KafkaClient) -> dict[str, int]:
    """Topics with their number of partitions, in order of names."""
    answer = kafka.call(METADATA, topics=None, allow_auto_topic_creation=False)
    return {topic.name: len(topic.partitions) for topic in sorted(answer.topics, key=lambda topic: topic.name)}


def add_partitions(kafka: KafkaClient, name: str, total: int) -> None:
    topic = kafka.structs(CREATE_PARTITIONS).CreatePartitionsTopic(name=name, count=total, assignments=None)
    [result] = kafka.call(CREATE_PARTITIONS, topics=[topic], timeout=_ADMIN_MS_MAX).results
    check(result.error_code, result.error_message, f"grow topic '{name}'")


def alter_config(kafka: KafkaClient, name: str, changes: Mapping[str, str | None]) -> None:
    """Set configs; None resets one to its default."""
    structs = kafka.structs(ALTER_CONFIGS)
    configs = [
        structs.AlterableConfig(name=key, config_operation=_DELETE if value is None else _SET, value=value)
        for key, value in changes.items()
    ]
    resource = structs.AlterConfigsResource(resource_type=_TOPIC_RESOURCE, resource_name=name, configs=configs)
    [result] = kafka.call(ALTER_CONFIGS, resources=[resource]).responses
    check(result.error_code, result.error_message, f"configure topic '{name}'")


def describe_config(kafka: KafkaClient, name: str) -> list[TopicConfigEntry]:
    structs = kafka.structs(DESCRIBE_CONFIGS)
    resource = structs.DescribeConfigsResource(
        resource_type=_TOPIC_RESOURCE, resource_name=name, configuration_keys=None
    )
    [result] = kafka.call(DESCRIBE_CONFIGS, resources=[resource], include_documentation=True).results
    check(result.error_code, result.error_message, f"describe topic '{name}'")
    return [
        TopicConfigEntry(
            name=entry.name,
            value=entry.value,
            is_set=entry.config_source == _TOPIC_CONFIG_SOURCE,
            meaning=entry.documentation or "",
        )
        for entry in result.configs
    ]


def topic_id(kafka: KafkaClient, name: str) -> TopicId:
    return bytes(_metadata(kafka, name).topic_id)


def describe_partitions(kafka: KafkaClient, name: str) -> list[PartitionEnds]:
    topic = _metadata(kafka, name)
    leaders = {partition.partition_index: partition.leader_id for partition in topic.partitions}
    starts = offsets(kafka, name, list(leaders), EARLIEST)
    ends = offsets(kafka, name, list(leaders), LATEST)
    return [
        PartitionEnds(index=index, leader=leaders[index], log_start=starts[index], next_offset=ends[index])
        for index in sorted(leaders)
    ]


def _metadata(kafka: KafkaClient, name: str) -> Any:
    asked = [kafka.structs(METADATA).MetadataRequestTopic(name=name)]
    [topic] = kafka.call(METADATA, topics=asked, allow_auto_topic_creation=False).topics
    check(topic.error_code, None, f"topic '{name}'")
    return topic
