"""GUARDS: how the resources that an API needs are found in its requests. One row for each API that needs anything.

Operations are not here: a guard takes them from the API's `needs`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lakestream.model.access import ResourceType
from lakestream.model.acl import CLUSTER_NAME
from lakestream.protocol.kafka.apis import config_resources
from lakestream.protocol.kafka.guards import groups, topics, transactions
from lakestream.protocol.kafka.guards.allowed_part import Guard
from lakestream.protocol.kafka.guards.each import EachChosen, EachNamed, EachTopic
from lakestream.protocol.kafka.guards.whole import all_of, on_cluster, on_group, on_producer, on_transactional_id


def _owner_of_configs(resource: Any) -> tuple[ResourceType, str]:
    if resource.resource_type == config_resources.TOPIC:
        return ResourceType.TOPIC, resource.resource_name
    if resource.resource_type == config_resources.GROUP:
        return ResourceType.GROUP, resource.resource_name
    return ResourceType.CLUSTER, CLUSTER_NAME


GUARDS: Mapping[int, Guard] = MappingProxyType(
    {
        0: all_of(on_transactional_id, EachTopic("topic_data", "responses")),  # Produce
        1: EachTopic("topics", "responses", "topic"),  # Fetch
        2: EachTopic("topics", "topics"),  # ListOffsets
        3: topics.of_metadata,
        8: all_of(on_group, EachTopic("topics", "topics")),  # OffsetCommit
        9: groups.of_offsets,
        10: groups.of_coordinator,
        11: on_group,
        12: on_group,
        13: on_group,
        14: on_group,
        15: EachNamed(ResourceType.GROUP, "groups", "groups"),  # DescribeGroups
        16: groups.of_list,
        19: topics.of_creation,
        20: topics.of_deletion,
        21: EachTopic("topics", "topics"),  # DeleteRecords
        22: on_producer,
        23: topics.of_epochs,
        24: transactions.of_partitions,
        25: all_of(on_transactional_id, on_group),
        26: on_transactional_id,
        27: transactions.of_markers,
        28: all_of(on_transactional_id, on_group, EachTopic("topics", "topics")),  # TxnOffsetCommit
        29: on_cluster,
        30: on_cluster,
        31: on_cluster,
        32: EachChosen("resources", "results", _owner_of_configs),  # DescribeConfigs
        33: EachChosen("resources", "responses", _owner_of_configs),  # AlterConfigs
        34: on_cluster,
        35: on_cluster,
        37: EachTopic("topics", "results"),  # CreatePartitions
        42: EachNamed(ResourceType.GROUP, "groups_names", "results"),  # DeleteGroups
        43: on_cluster,
        44: EachChosen("resources", "responses", _owner_of_configs),  # IncrementalAlterConfigs
        45: on_cluster,
        46: on_cluster,
        47: all_of(on_group, EachTopic("topics", "topics")),  # OffsetDelete
        48: on_cluster,
        49: on_cluster,
        50: on_cluster,
        51: on_cluster,
        55: on_cluster,
        57: on_cluster,
        60: on_cluster,
        61: EachTopic("topics", "topics"),  # DescribeProducers
        65: transactions.of_description,
        66: transactions.of_list,
        68: groups.of_heartbeat,
        69: groups.of_description,
        74: on_cluster,
        75: topics.of_topic_pages,
        76: groups.of_heartbeat,
        77: groups.of_description,
        78: all_of(on_group, EachTopic("topics", "responses")),  # ShareFetch
        79: all_of(on_group, EachTopic("topics", "responses")),  # ShareAcknowledge
        90: groups.of_share_offsets,
        91: all_of(on_group, EachNamed(ResourceType.TOPIC, "topics", "responses", "topic_name")),
        92: all_of(on_group, EachNamed(ResourceType.TOPIC, "topics", "responses", "topic_name")),
    }
)
