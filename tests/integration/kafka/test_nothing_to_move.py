"""What administrators of Apache Kafka ask for and what nothing has to be done for here: accepted, or refused kindly."""

from typing import Any

from lakestream.protocol.kafka.wire import messages

from .wire_client import WireClient

UNKNOWN_TOPIC, INVALID_ASSIGNMENT, NO_LOG_DIR = 3, 39, 57
NOT_NEEDED, NONE_IN_PROGRESS, FEATURE_FAILED = 84, 85, 96


def test_no_leader_has_to_be_elected(topic: str, client: WireClient) -> None:
    api = messages.api(43)
    asked = [api.request.TopicPartitions(topic=name, partitions=[0]) for name in (topic, "no-such-topic")]
    answer = client.call(43, 2, api.Request(topic_partitions=asked))
    codes = [each.partition_result[0].error_code.value for each in answer.replica_election_results]
    assert codes == [NOT_NEEDED, UNKNOWN_TOPIC]
    everything = client.call(43, 2, api.Request(topic_partitions=None))
    assert everything.error_code.value == 0 and everything.replica_election_results == ()


def test_a_partition_can_be_assigned_to_where_it_is_and_nowhere_else(topic: str, client: WireClient) -> None:
    named = messages.api(3)
    shown = client.call(3, 12, named.Request(topics=[named.request.MetadataRequestTopic(name=topic)])).topics[0]
    leader = next(each.leader_id for each in shown.partitions if each.partition_index == 1)
    api = messages.api(45)

    def code(number: int, replicas: list[int] | None) -> int:
        part = api.request.ReassignablePartition(partition_index=number, replicas=replicas)
        asked = api.Request(topics=[api.request.ReassignableTopic(name=topic, partitions=[part])])
        return int(client.call(45, 1, asked).responses[0].partitions[0].error_code.value)

    assert code(1, [leader]) == 0
    assert code(1, [3 - leader]) == code(1, [1, 2]) == code(1, []) == INVALID_ASSIGNMENT
    assert code(1, None) == NONE_IN_PROGRESS
    assert code(7, [leader]) == UNKNOWN_TOPIC


def test_a_partition_can_be_moved_to_the_one_directory_there_is(topic: str, client: WireClient) -> None:
    api = messages.api(34)

    def code(path: str, number: int = 0) -> int:
        moved = api.request.AlterReplicaLogDirTopic(name=topic, partitions=[number])
        answer = client.call(34, 2, api.Request(dirs=[api.request.AlterReplicaLogDir(path=path, topics=[moved])]))
        return int(answer.results[0].partitions[0].error_code.value)

    assert code("lakestream") == 0
    assert code("/disks/2") == NO_LOG_DIR
    assert code("lakestream", 9) == UNKNOWN_TOPIC


def test_the_metadata_store_is_a_quorum_of_one(topic: str, client: WireClient) -> None:
    api = messages.api(55)

    def part(name: str) -> Any:
        asked = api.request.TopicData(topic_name=name, partitions=[api.request.PartitionData(partition_index=0)])
        return client.call(55, 2, api.Request(topics=[asked])).topics[0].partitions[0]

    shown = part("__cluster_metadata")
    (voter,) = shown.current_voters
    assert voter.replica_id == shown.leader_id and voter.log_end_offset == shown.high_watermark > 0
    assert part(topic).error_code.value == UNKNOWN_TOPIC


def test_features_stay_at_the_level_of_the_version(client: WireClient) -> None:
    api = messages.api(57)

    def code(feature: str, level: int) -> int:
        update = api.request.FeatureUpdateKey(feature=feature, max_version_level=level)
        return int(client.call(57, 2, api.Request(feature_updates=[update])).error_code.value)

    assert code("share.version", 1) == 0
    assert code("share.version", 0) == code("metadata.version", 25) == FEATURE_FAILED
