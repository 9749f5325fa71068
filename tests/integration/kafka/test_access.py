"""ACLs on real requests: a denied topic is refused or hidden alone, changes count at once, and nothing slips past."""

from collections.abc import Iterator
from typing import Any

import pytest

from lakestream.access.authorizer import AccessPolicy
from lakestream.broker.broker import BrokerLimits
from lakestream.model.access import Operation, ResourceType
from lakestream.protocol.kafka.wire import messages
from lakestream.testing.local import LocalLakestream

from .batches import batch
from .group_requests import commit_request
from .running import running
from .test_access_matrix import CALLER, Cluster, acl
from .wire_client import WireClient, fetch_request, produce_request

TOPIC_DENIED, GROUP_DENIED = 29, 30
TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running(LocalLakestream(brokers=2, limits=BrokerLimits(access=AccessPolicy(authorize=True)))) as service:
        yield Cluster(service)


@pytest.fixture
def caller(cluster: Cluster) -> Iterator[WireClient]:
    with cluster.caller() as connected:
        yield connected
    cluster.revoke()


@pytest.fixture
def open_topic(cluster: Cluster, name: str) -> str:
    with cluster.administrator() as administrator:
        administrator.create_topic(name)
    return name


@pytest.fixture
def closed_topic(cluster: Cluster, open_topic: str) -> str:
    with cluster.administrator() as administrator:
        administrator.create_topic(f"closed-{open_topic}")
    return f"closed-{open_topic}"


def codes(topics: Any, partitions: str = "partitions", name: str = "name") -> dict[str, int]:
    return {getattr(each, name): getattr(each, partitions)[0].error_code.value for each in topics}


def test_a_denied_topic_is_refused_and_the_others_of_the_request_are_served(
    cluster: Cluster, caller: WireClient, open_topic: str, closed_topic: str
) -> None:
    cluster.grant(acl(Operation.WRITE, TOPIC, open_topic), acl(Operation.READ, TOPIC, open_topic))
    asked = produce_request({closed_topic: {0: batch()}, open_topic: {0: batch()}})
    produced = caller.call(0, 9, asked)
    expected = {open_topic: 0, closed_topic: TOPIC_DENIED}
    assert codes(produced.responses, "partition_responses") == expected
    fetched = caller.call(1, 12, fetch_request({closed_topic: {0: 0}, open_topic: {0: 0}}))
    assert fetched.error_code.value == 0
    assert codes(fetched.responses, name="topic") == expected
    records = {each.topic: each.partitions[0].records for each in fetched.responses}
    assert records[open_topic]
    assert not records[closed_topic]
    with cluster.administrator() as administrator:
        assert administrator.list_offset(closed_topic, -1).offset == 0, "nothing was stored"


def test_a_denied_record_without_acks_closes_the_connection_and_is_not_stored(
    cluster: Cluster, caller: WireClient, closed_topic: str
) -> None:
    caller.send(0, 9, produce_request({closed_topic: {0: batch()}}, acks=0))
    assert caller.is_closed()
    with cluster.administrator() as administrator:
        assert administrator.list_offset(closed_topic, -1).offset == 0


@pytest.mark.parametrize("version", [0, 1, 9, 13])
def test_a_list_of_all_topics_hides_those_that_may_not_be_described(
    version: int, cluster: Cluster, caller: WireClient, open_topic: str, closed_topic: str
) -> None:
    cluster.grant(acl(Operation.READ, TOPIC, open_topic))
    everything = messages.api(3).Request(topics=[] if version == 0 else None)
    assert [each.name for each in caller.call(3, version, everything).topics] == [open_topic]
    named = [messages.api(3).request.MetadataRequestTopic(name=each) for each in (closed_topic, open_topic)]
    answer = caller.call(3, version, messages.api(3).Request(topics=named))
    assert {each.name: each.error_code.value for each in answer.topics} == {open_topic: 0, closed_topic: TOPIC_DENIED}
    answer = caller.call(3, version, messages.api(3).Request(topics=named[:1]))
    assert {each.name: each.error_code.value for each in answer.topics} == {closed_topic: TOPIC_DENIED}


def test_pages_of_all_topics_hide_them_too_even_if_none_is_left(
    cluster: Cluster, caller: WireClient, open_topic: str, closed_topic: str
) -> None:
    api = messages.api(75)
    everything = api.Request(topics=[], response_partition_limit=100)
    assert not caller.call(75, 0, everything).topics
    denied = caller.call(75, 0, api.Request(topics=[api.request.TopicRequest(name=closed_topic)])).topics
    assert [(each.name, each.error_code.value) for each in denied] == [(closed_topic, TOPIC_DENIED)]
    cluster.grant(acl(Operation.DESCRIBE, TOPIC, open_topic))
    assert [each.name for each in caller.call(75, 0, everything).topics] == [open_topic]


def test_a_topic_is_created_on_demand_only_with_the_right_to_create_it(
    cluster: Cluster, caller: WireClient, name: str
) -> None:
    api = messages.api(3)
    asked = api.Request(topics=[api.request.MetadataRequestTopic(name=name)], allow_auto_topic_creation=True)
    cluster.grant(acl(Operation.DESCRIBE, TOPIC, name))
    (refused,) = caller.call(3, 9, asked).topics
    assert refused.error_code.value == TOPIC_DENIED
    with cluster.administrator() as administrator:
        without = api.Request(topics=asked.topics, allow_auto_topic_creation=False)
        (missing,) = administrator.call(3, 9, without).topics
        assert missing.error_code.value == 3, "it was not created"
    cluster.grant(acl(Operation.CREATE, TOPIC, name))
    (created,) = caller.call(3, 9, asked).topics
    assert created.error_code.value == 0


def test_an_id_is_no_way_around_the_name(
    cluster: Cluster, caller: WireClient, open_topic: str, closed_topic: str
) -> None:
    cluster.grant(acl(None, TOPIC, open_topic))
    with cluster.administrator() as administrator:
        closed = administrator.create_topic(f"{closed_topic}-2").topic_id.bytes
    produce, fetch, metadata, delete = (messages.api(key) for key in (0, 1, 3, 20))
    data = produce.request.TopicProduceData(
        name=open_topic, topic_id=closed, partition_data=[produce.request.PartitionProduceData(records=batch())]
    )
    (refused,) = caller.call(0, 13, produce.Request(acks=-1, timeout=10_000, topic_data=[data])).responses
    assert refused.partition_responses[0].error_code.value == TOPIC_DENIED
    part = fetch.request.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    asked = fetch.request.FetchTopic(topic=open_topic, topic_id=closed, partitions=[part])
    (refused,) = caller.call(1, 16, fetch.Request(max_bytes=1 << 20, topics=[asked])).responses
    assert refused.partitions[0].error_code.value == TOPIC_DENIED
    by_id = metadata.request.MetadataRequestTopic(name=open_topic, topic_id=closed)
    (hidden,) = caller.call(3, 12, metadata.Request(topics=[by_id])).topics
    assert (hidden.error_code.value, hidden.partitions) == (100, ())
    (refused,) = caller.call(20, 6, delete.Request(topics=[delete.request.DeleteTopicState(topic_id=closed)])).responses
    assert (refused.error_code.value, refused.name) == (TOPIC_DENIED, None)


def test_an_id_that_this_broker_does_not_know_yet_is_checked_as_well(
    cluster: Cluster, caller: WireClient, name: str
) -> None:
    """Another broker has created the topic a moment ago. A guard that only looked into memory would let it pass."""
    with WireClient(cluster.service.addresses[1], source="127.0.0.2") as elsewhere:
        for number in range(5):
            id = elsewhere.create_topic(f"{name}-{number}").topic_id.bytes
            fetch = messages.api(1)
            part = fetch.request.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
            asked = fetch.request.FetchTopic(topic_id=id, partitions=[part])
            (refused,) = caller.call(1, 16, fetch.Request(max_bytes=1 << 20, topics=[asked])).responses
            assert refused.partitions[0].error_code.value == TOPIC_DENIED


def test_offsets_of_all_topics_hide_denied_ones_and_named_ones_are_refused(
    cluster: Cluster, caller: WireClient, open_topic: str, closed_topic: str
) -> None:
    group = f"readers-of-{open_topic}"
    coordinator = cluster.service.addresses[_coordinator(cluster, group)]
    with WireClient(coordinator, source="127.0.0.2") as administrator:
        for topic in (open_topic, closed_topic):
            _committed(administrator, group, topic)
    cluster.grant(acl(Operation.DESCRIBE, GROUP, group), acl(Operation.DESCRIBE, TOPIC, open_topic))
    api = messages.api(9)
    with WireClient(coordinator, source=CALLER) as caller_there:
        everything = api.Request(groups=[api.request.OffsetFetchRequestGroup(group_id=group, topics=None)])
        (answered,) = caller_there.call(9, 8, everything).groups
        assert [each.name for each in answered.topics] == [open_topic]
        named = [
            api.request.OffsetFetchRequestTopics(name=each, partition_indexes=[0])
            for each in (open_topic, closed_topic)
        ]
        (answered,) = caller_there.call(
            9, 8, api.Request(groups=[api.request.OffsetFetchRequestGroup(group_id=group, topics=named)])
        ).groups
        assert codes(answered.topics) == {open_topic: 0, closed_topic: TOPIC_DENIED}
        old = [
            api.request.OffsetFetchRequestTopic(name=each, partition_indexes=[0]) for each in (open_topic, closed_topic)
        ]
        assert codes(caller_there.call(9, 5, api.Request(group_id=group, topics=old)).topics) == {
            open_topic: 0,
            closed_topic: TOPIC_DENIED,
        }
        assert [each.name for each in caller_there.call(9, 5, api.Request(group_id=group, topics=None)).topics] == [
            open_topic
        ]


def _committed(client: WireClient, group: str, topic: str) -> None:
    """Commits again while the coordinator is not ready yet."""
    for _ in range(500):
        if codes(client.call(8, 8, commit_request(group, topic, bytes(16))).topics) == {topic: 0}:
            return
    raise AssertionError("the coordinator never took the offset")


def _coordinator(cluster: Cluster, group: str) -> int:
    with cluster.administrator() as administrator:
        answer = administrator.call(10, 4, messages.api(10).Request(coordinator_keys=[group]))
    ports = [int(each.rsplit(":", 1)[1]) for each in cluster.service.addresses]
    return ports.index(answer.coordinators[0].port)


def test_authorized_operations_are_those_of_the_caller(cluster: Cluster, caller: WireClient, open_topic: str) -> None:
    cluster.grant(acl(Operation.READ, TOPIC, open_topic), acl(Operation.CREATE, CLUSTER))
    api = messages.api(3)
    asked = api.Request(
        topics=[api.request.MetadataRequestTopic(name=open_topic)],
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
    )
    answer = caller.call(3, 9, asked)
    assert answer.topics[0].topic_authorized_operations == 1 << Operation.READ | 1 << Operation.DESCRIBE
    assert answer.cluster_authorized_operations == 1 << Operation.CREATE


def test_an_open_connection_loses_a_right_that_is_taken_away_at_another_broker(
    cluster: Cluster, caller: WireClient, open_topic: str
) -> None:
    cluster.grant(acl(Operation.DESCRIBE, TOPIC, open_topic))
    assert caller.list_offset(open_topic, -1).error_code.value == 0
    with WireClient(cluster.service.addresses[1], source="127.0.0.2") as elsewhere:
        api = messages.api(31)
        taken = api.request.DeleteAclsFilter(
            resource_type_filter=2, resource_name_filter=open_topic, operation=1, permission_type=1
        )
        (result,) = elsewhere.call(31, 3, api.Request(filters=[taken])).filter_results
        assert [each.resource_name for each in result.matching_acls] == [open_topic]
    for _ in range(2_000):
        if caller.list_offset(open_topic, -1).error_code.value == TOPIC_DENIED:
            return
    raise AssertionError("the right was never lost")


def test_acls_are_made_shown_and_removed_over_the_wire(cluster: Cluster, name: str) -> None:
    create, describe, delete = messages.api(30), messages.api(29), messages.api(31)
    with cluster.administrator() as administrator:
        made = create.request.AclCreation(
            resource_type=2, resource_name=name, principal="User:bob", host="*", operation=2, permission_type=2
        )
        too_long = create.request.AclCreation(
            resource_type=2,
            resource_name=name,
            principal="User:" + "x" * 10_000,
            host="*",
            operation=3,
            permission_type=3,
        )
        unknown = create.request.AclCreation(
            resource_type=99, resource_name=name, principal="User:bob", host="*", operation=3, permission_type=3
        )
        results = administrator.call(30, 3, create.Request(creations=[made, too_long, unknown])).results
        assert [each.error_code.value for each in results] == [0, 42, 42]
        filter = describe.Request(
            resource_type_filter=1, resource_name_filter=name, pattern_type_filter=2, operation=1, permission_type=1
        )
        found = {each.resource_name: each.acls for each in administrator.call(29, 3, filter).resources}
        assert [(each.principal, each.operation, each.permission_type) for each in found[name]] == [("User:bob", 2, 2)]
        removed = delete.request.DeleteAclsFilter(
            resource_type_filter=1, resource_name_filter=name, pattern_type_filter=1, operation=1, permission_type=1
        )
        (result,) = administrator.call(31, 3, delete.Request(filters=[removed])).filter_results
        assert [each.principal for each in result.matching_acls] == ["User:bob"]
        assert name not in {each.resource_name for each in administrator.call(29, 3, filter).resources}
