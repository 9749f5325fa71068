"""A well-formed request for every API that is served, to be sent in every version."""

from collections.abc import Callable, Mapping
from typing import Any

from lakestream.protocol.kafka.wire import messages

from .batches import batch


def _produce(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    data = api.request.PartitionProduceData(index=0, records=batch())
    asked = api.request.TopicProduceData(name=topic, topic_id=topic_id, partition_data=[data])
    return api.Request(acks=-1, timeout=10_000, topic_data=[asked])


def _fetch(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    part = api.request.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    asked = api.request.FetchTopic(topic=topic, topic_id=topic_id, partitions=[part])
    return api.Request(max_wait=0, min_bytes=1, max_bytes=1 << 20, topics=[asked])


def _list_offsets(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    part = api.request.ListOffsetsPartition(partition_index=0, timestamp=-1)
    return api.Request(replica_id=-1, topics=[api.request.ListOffsetsTopic(name=topic, partitions=[part])])


def _metadata(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(topics=[api.request.MetadataRequestTopic(name=topic)])


def _find_coordinator(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(key="group", coordinator_keys=["group"])


def _api_versions(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(client_software_name="raw", client_software_version="1.0")


def _create_topics(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    asked = api.request.CreatableTopic(name=f"{topic}-v{version}", num_partitions=2, replication_factor=1)
    return api.Request(topics=[asked])


def _delete_topics(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    if version >= 6:
        return api.Request(topics=[api.request.DeleteTopicState(topic_id=topic_id)])
    return api.Request(topic_names=[topic])


def _delete_records(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    part = api.request.DeleteRecordsPartition(partition_index=0, offset=-1)
    return api.Request(topics=[api.request.DeleteRecordsTopic(name=topic, partitions=[part])])


def _init_producer_id(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(transaction_timeout=60_000)


def _add_partitions_to_txn(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    topics = [api.request.AddPartitionsToTxnTopic(name=topic, partitions=[0])]
    if version < 4:
        return api.Request(
            v3_and_below_transactional_id=f"tx-{topic}", v3_and_below_producer_id=7, v3_and_below_topics=topics
        )
    one = api.request.AddPartitionsToTxnTransaction(transactional_id=f"tx-{topic}", producer_id=7, topics=topics)
    return api.Request(transactions=[one])


def _add_offsets_to_txn(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(transactional_id=f"tx-{topic}", producer_id=7, group_id=f"group-{topic}")


def _end_txn(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(transactional_id=f"tx-{topic}", producer_id=7, committed=True)


def _write_txn_markers(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    topics = [api.request.WritableTxnMarkerTopic(name=topic, partition_indexes=[0])]
    return api.Request(markers=[api.request.WritableTxnMarker(producer_id=7, topics=topics)])


def _txn_offset_commit(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    part = api.request.TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    return api.Request(
        transactional_id=f"tx-{topic}",
        group_id=f"group-{topic}",
        producer_id=7,
        topics=[api.request.TxnOffsetCommitRequestTopic(name=topic, partitions=[part])],
    )


def _describe_producers(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(topics=[api.request.TopicRequest(name=topic, partition_indexes=[0])])


def _describe_transactions(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(transactional_ids=[f"tx-{topic}"])


def _list_transactions(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request()


def _offset_for_leader_epoch(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    part = api.request.OffsetForLeaderPartition(partition=0, leader_epoch=0, current_leader_epoch=0)
    return api.Request(replica_id=-1, topics=[api.request.OffsetForLeaderTopic(topic=topic, partitions=[part])])


def _describe_configs(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    resource = api.request.DescribeConfigsResource(resource_type=2, resource_name=topic, configuration_keys=None)
    return api.Request(resources=[resource], include_synonyms=True, include_documentation=True)


def _alter_configs(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    config = api.request.AlterableConfig(name="retention.ms", value="1000000")
    resource = api.request.AlterConfigsResource(resource_type=2, resource_name=topic, configs=[config])
    return api.Request(resources=[resource])


def _describe_log_dirs(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(topics=None)


def _create_partitions(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(topics=[api.request.CreatePartitionsTopic(name=topic, count=8, assignments=None)])


def _list_reassignments(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(topics=None)


def _describe_cluster(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(include_cluster_authorized_operations=True)


def _list_config_resources(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(resource_types=[2, 32])


def _describe_topic_partitions(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(topics=[api.request.TopicRequest(name=topic)])


def _describe_acls(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1)


def _create_acls(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    asked = api.request.AclCreation(
        resource_type=2, resource_name=topic, principal="User:bob", host="*", operation=3, permission_type=3
    )
    return api.Request(creations=[asked])


def _delete_acls(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    asked = api.request.DeleteAclsFilter(
        resource_type_filter=2,
        resource_name_filter=topic,
        pattern_type_filter=3,
        principal_filter="User:bob",
        operation=1,
        permission_type=1,
    )
    return api.Request(filters=[asked])


def _sasl_handshake(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(mechanism="PLAIN")


def _sasl_authenticate(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(auth_bytes=b"token")


def _describe_quotas(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(components=[], strict=False)


def _alter_quotas(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    entity = [api.request.EntityData(entity_type="user", entity_name=topic)]
    limit = api.request.OpData(key="producer_byte_rate", value=1e9)
    return api.Request(entries=[api.request.EntryData(entity=entity, ops=[limit])])


def _describe_scram(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(users=None)


def _alter_scram(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    asked = api.request.ScramCredentialUpsertion(
        name=topic, mechanism=1, iterations=4096, salt=b"salt", salted_password=bytes(32)
    )
    return api.Request(upsertions=[asked])


def _alter_log_dirs(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    moved = api.request.AlterReplicaLogDirTopic(name=topic, partitions=[0])
    return api.Request(dirs=[api.request.AlterReplicaLogDir(path="lakestream", topics=[moved])])


def _elect_leaders(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(topic_partitions=[api.request.TopicPartitions(topic=topic, partitions=[0])])


def _alter_reassignments(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    part = api.request.ReassignablePartition(partition_index=0, replicas=None)
    return api.Request(topics=[api.request.ReassignableTopic(name=topic, partitions=[part])])


def _describe_quorum(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    part = api.request.PartitionData(partition_index=0)
    return api.Request(topics=[api.request.TopicData(topic_name="__cluster_metadata", partitions=[part])])


def _update_features(api: Any, topic: str, topic_id: bytes, version: int) -> Any:
    return api.Request(feature_updates=[api.request.FeatureUpdateKey(feature="share.version", max_version_level=1)])


REQUESTS: Mapping[int, Callable[[Any, str, bytes, int], Any]] = {
    0: _produce,
    1: _fetch,
    2: _list_offsets,
    3: _metadata,
    10: _find_coordinator,
    17: _sasl_handshake,
    18: _api_versions,
    19: _create_topics,
    20: _delete_topics,
    21: _delete_records,
    22: _init_producer_id,
    23: _offset_for_leader_epoch,
    24: _add_partitions_to_txn,
    25: _add_offsets_to_txn,
    26: _end_txn,
    27: _write_txn_markers,
    28: _txn_offset_commit,
    29: _describe_acls,
    30: _create_acls,
    31: _delete_acls,
    32: _describe_configs,
    33: _alter_configs,
    35: _describe_log_dirs,
    36: _sasl_authenticate,
    37: _create_partitions,
    44: _alter_configs,
    34: _alter_log_dirs,
    43: _elect_leaders,
    45: _alter_reassignments,
    46: _list_reassignments,
    48: _describe_quotas,
    49: _alter_quotas,
    55: _describe_quorum,
    57: _update_features,
    50: _describe_scram,
    51: _alter_scram,
    60: _describe_cluster,
    61: _describe_producers,
    65: _describe_transactions,
    66: _list_transactions,
    74: _list_config_resources,
    75: _describe_topic_partitions,
}


def request_for(key: int, version: int, topic: str, topic_id: bytes) -> Any:
    """Field names of versions that lack them are left at what the codec ignores."""
    return REQUESTS[key](messages.api(key), topic, topic_id, version)
