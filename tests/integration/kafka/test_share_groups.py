"""Share groups by raw requests: locks, sessions, deliveries, and what another broker takes over."""

import time
from collections.abc import Sequence
from typing import Any

import pytest

from lakestream.protocol.kafka.wire import messages

from .batches import batch
from .group_requests import (
    consumer_heartbeat_request,
    group_of_first_broker,
    share_acknowledge_request,
    share_fetch_request,
    share_group,
    share_heartbeat_request,
)
from .running import Running
from .wire_client import WireClient

ACCEPT, RELEASE, REJECT, RENEW = (1,), (2,), (3,), (4,)
INVALID_RECORD_STATE, SESSION_NOT_FOUND, INVALID_SESSION_EPOCH = 121, 122, 123
INVALID_CONFIG, INVALID_REQUEST, NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER = 40, 42, 68, 69, 25
INCONSISTENT_GROUP_PROTOCOL, OFFSET_OUT_OF_RANGE = 23, 1
NOT_LEADER, ATTEMPTS_MAX = 6, 10
WAIT_MS = 10_000


def group_config(client: WireClient, group: str, **configs: str) -> Any:
    api = messages.api(44)
    changes = [
        api.request.AlterableConfig(name=name.replace("_", "."), config_operation=0, value=value)
        for name, value in configs.items()
    ]
    asked = api.request.AlterConfigsResource(resource_type=32, resource_name=group, configs=changes)
    return client.call(44, 1, api.Request(resources=[asked], validate_only=False)).responses[0]


@pytest.fixture
def topic_id(name: str, client: WireClient) -> bytes:
    """Ten records in partition 0: four batches of different sizes."""
    id: bytes = client.create_topic(name).topic_id.bytes
    for count in (1, 4, 2, 3):
        produce(client, name, id, count)
    return id


def produce(client: WireClient, name: str, topic_id: bytes, count: int) -> None:
    api = messages.api(0)
    data = api.request.PartitionProduceData(index=0, records=batch([b"value"] * count))
    asked = api.request.TopicProduceData(name=name, topic_id=topic_id, partition_data=[data])
    for _ in range(ATTEMPTS_MAX):
        answer = client.call(0, 13, api.Request(acks=-1, timeout=10_000, topic_data=[asked]))
        code = answer.responses[0].partition_responses[0].error_code.value
        if code != NOT_LEADER:
            break
        time.sleep(0.5)  # a busy machine may renew a lease too late
    assert code == 0


@pytest.fixture
def group(client: WireClient, name: str) -> str:
    """Begins at the earliest record."""
    group = group_of_first_broker()
    assert group_config(client, group, share_auto_offset_reset="earliest").error_code.value == 0
    share_group(client, group, name)
    return group


class Member:
    """A member of a share group and its session with one broker."""

    def __init__(self, client: WireClient, group: str, topic_id: bytes, name: str) -> None:
        self.client, self.group, self.topic_id, self.name = client, group, topic_id, name
        self.epoch = 0

    def fetch(self, **wishes: Any) -> Any:
        """The answer for the partition; None if there is nothing to tell."""
        answer = self.client.call(
            78, 2, share_fetch_request(self.group, self.topic_id, member_id=self.name, epoch=self.epoch, **wishes)
        )
        assert answer.error_code.value == 0, answer
        self.epoch += 1
        return answer.responses[0].partitions[0] if answer.responses else None

    def locked(self, **wishes: Any) -> list[tuple[int, int, int]]:
        """First and last offset and number of deliveries of what it was given."""
        part = self.fetch(**wishes)
        if part is None:
            return []
        assert part.error_code.value == 0 and part.acknowledge_error_code == 0, part
        return [(one.first_offset, one.last_offset, one.delivery_count) for one in part.acquired_records]

    def say(self, *batches: tuple[int, int, Sequence[int]]) -> int:
        """The error code."""
        asked = share_acknowledge_request(self.group, self.topic_id, self.epoch, *batches, member_id=self.name)
        answer = self.client.call(79, 2, asked)
        assert answer.error_code.value == 0, answer
        self.epoch += 1
        return int(answer.responses[0].partitions[0].error_code.value)

    def leave(self) -> None:
        asked = share_acknowledge_request(self.group, self.topic_id, -1, member_id=self.name)
        assert self.client.call(79, 2, asked).error_code.value == 0


def progress(client: WireClient, group: str, topic: str) -> tuple[int, int]:
    """The group's offset and its lag."""
    api = messages.api(90)
    asked = api.request.DescribeShareGroupOffsetsRequestTopic(topic_name=topic, partitions=[0])
    answer = client.call(
        90, 1, api.Request(groups=[api.request.DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=[asked])])
    )
    part = answer.groups[0].topics[0].partitions[0]
    return part.start_offset, part.lag


def test_members_get_different_records_until_all_are_accepted(
    client: WireClient, group: str, name: str, topic_id: bytes
) -> None:
    first, second = (Member(client, group, topic_id, name) for name in ("a", "b"))
    assert first.locked(records=5) == [(0, 0, 1), (1, 4, 1)]
    assert second.locked() == [(5, 6, 1), (7, 9, 1)]
    assert progress(client, group, name) == (0, 10)
    assert second.say((5, 9, ACCEPT)) == 0
    assert progress(client, group, name) == (0, 5)
    assert first.locked(acknowledged=[(0, 4, ACCEPT)]) == []
    assert progress(client, group, name) == (10, 0)


def test_the_answer_has_whole_batches_and_lists_the_records_that_are_locked(
    client: WireClient, group: str, topic_id: bytes
) -> None:
    member = Member(client, group, topic_id, "a")
    part = member.fetch(records=3, exact=True)
    assert [(one.first_offset, one.last_offset) for one in part.acquired_records] == [(0, 0), (1, 2)]
    part = member.fetch(records=3, exact=True)
    assert [(one.first_offset, one.last_offset) for one in part.acquired_records] == [(3, 4), (5, 5)]
    assert int.from_bytes(bytes(part.records)[:8], "big") == 1


def test_released_records_go_to_another_member_and_are_given_up_after_the_last_delivery(
    client: WireClient, group: str, name: str, topic_id: bytes
) -> None:
    assert group_config(client, group, share_delivery_count_limit="2").error_code.value == 0
    first, second = (Member(client, group, topic_id, name) for name in ("a", "b"))
    assert first.locked(records=1)[0] == (0, 0, 1)
    assert first.say((0, 0, RELEASE)) == 0
    assert second.locked(records=1) == [(0, 0, 2)]
    assert second.say((0, 0, RELEASE)) == 0
    assert progress(client, group, name) == (1, 9)


def test_a_reader_that_waits_gets_a_record_as_soon_as_it_is_released(
    client: WireClient, group: str, topic_id: bytes
) -> None:
    Member(client, group, topic_id, "a").locked()
    waiting = client.send(78, 2, share_fetch_request(group, topic_id, member_id="b", wait_ms=WAIT_MS))
    said = client.send(79, 2, share_acknowledge_request(group, topic_id, 1, (4, 4, RELEASE), member_id="a"))
    (got,) = client.receive(78, 2, waiting).responses[0].partitions[0].acquired_records
    assert (got.first_offset, got.last_offset, got.delivery_count) == (4, 4, 2)
    assert client.receive(79, 2, said).error_code.value == 0


def test_a_lock_that_ran_out_frees_its_records_for_a_reader_that_waits(
    client: WireClient, group: str, topic_id: bytes
) -> None:
    assert group_config(client, group, share_record_lock_duration_ms="1000").error_code.value == 0
    first, second = (Member(client, group, topic_id, name) for name in ("a", "b"))
    assert sum(last - at + 1 for at, last, _ in first.locked()) == 10
    assert second.locked(wait_ms=WAIT_MS)[0] == (0, 0, 2)
    assert first.say((0, 9, ACCEPT)) == INVALID_RECORD_STATE


def test_a_renewed_lock_lasts_and_renewal_can_be_forbidden(client: WireClient, group: str, topic_id: bytes) -> None:
    group_config(client, group, share_record_lock_duration_ms="2000")
    first, second = (Member(client, group, topic_id, name) for name in ("a", "b"))
    first.locked()
    for _ in range(3):
        time.sleep(0.9)
        assert first.say((0, 9, RENEW)) == 0
    assert second.locked() == []
    group_config(client, group, share_renew_acknowledge_enable="false")
    assert first.say((0, 9, RENEW)) == INVALID_REQUEST


def test_any_broker_goes_on_where_another_one_stopped_and_honours_its_locks(
    client: WireClient, other_client: WireClient, group: str, name: str, topic_id: bytes
) -> None:
    member = Member(client, group, topic_id, "a")
    member.locked(records=5)
    elsewhere = Member(other_client, group, topic_id, "a")
    assert elsewhere.locked() == [(5, 6, 1), (7, 9, 1)]
    assert elsewhere.say((0, 9, ACCEPT)) == 0
    assert progress(client, group, name) == (10, 0)
    assert member.say((0, 4, RELEASE)) == 0  # they are done, so it changes nothing
    assert Member(client, group, topic_id, "b").locked() == []


def test_a_member_that_ends_its_session_gives_back_what_it_holds(
    client: WireClient, group: str, topic_id: bytes
) -> None:
    first, second = (Member(client, group, topic_id, name) for name in ("a", "b"))
    first.locked()
    first.leave()
    assert second.locked()[0] == (0, 0, 1)


def test_sessions_go_on_step_by_step(client: WireClient, group: str, topic_id: bytes) -> None:
    def code(epoch: int) -> int:
        return int(client.call(78, 2, share_fetch_request(group, topic_id, epoch=epoch)).error_code.value)

    assert code(1) == code(-1) == SESSION_NOT_FOUND
    assert code(0) == code(1) == 0
    assert code(1) == INVALID_SESSION_EPOCH
    asked = share_fetch_request(group, topic_id, acknowledged=[(0, 0, ACCEPT)])
    assert client.call(78, 2, asked).error_code.value == INVALID_REQUEST
    assert client.call(79, 2, share_acknowledge_request(group, topic_id, 0)).error_code.value == INVALID_SESSION_EPOCH


def test_only_records_of_committed_transactions_are_given_to_a_group_that_wants_no_others(
    client: WireClient, group: str, topic_id: bytes
) -> None:
    assert group_config(client, group, share_isolation_level="read_committed").error_code.value == 0
    member = Member(client, group, topic_id, "a")
    assert sum(last - first + 1 for first, last, _ in member.locked()) == 10
    assert group_config(client, group, share_isolation_level="sometimes").error_code.value == INVALID_CONFIG


def test_a_group_without_members_goes_on_where_it_is_told(
    client: WireClient, group: str, name: str, topic_id: bytes
) -> None:
    api = messages.api(91)

    def reset(offset: int) -> Any:
        part = api.request.AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=offset)
        asked = api.request.AlterShareGroupOffsetsRequestTopic(topic_name=name, partitions=[part])
        return client.call(91, 0, api.Request(group_id=group, topics=[asked]))

    Member(client, group, topic_id, "a").locked(records=5)
    assert reset(7).error_code.value == NON_EMPTY_GROUP
    client.call(76, 1, share_heartbeat_request(group, None, epoch=-1))
    assert reset(11).responses[0].partitions[0].error_code.value == OFFSET_OUT_OF_RANGE
    assert reset(7).error_code.value == 0
    assert progress(client, group, name) == (7, 3)
    assert Member(client, group, topic_id, "b").locked() == [(7, 9, 1)]
    forget = messages.api(92)
    asked = forget.request.DeleteShareGroupOffsetsRequestTopic(topic_name=name)
    assert client.call(92, 0, forget.Request(group_id=group, topics=[asked])).error_code.value == 0
    assert progress(client, group, name) == (-1, -1)
    deleted = client.call(42, 2, messages.api(42).Request(groups_names=[group]))
    assert deleted.results[0].error_code.value == 0
    unknown = client.call(78, 2, share_fetch_request(group, topic_id))
    assert unknown.error_code.value == GROUP_ID_NOT_FOUND


def test_a_group_is_of_one_kind(client: WireClient, group: str, name: str, topic_id: bytes) -> None:
    assert client.call(68, 1, consumer_heartbeat_request(group, [name])).error_code.value == GROUP_ID_NOT_FOUND
    consumers = group_of_first_broker()
    client.call(68, 1, consumer_heartbeat_request(consumers, [name]))
    assert client.call(76, 1, share_heartbeat_request(consumers, [name])).error_code.value == GROUP_ID_NOT_FOUND
    listed = client.call(16, 5, messages.api(16).Request(states_filter=[], types_filter=["share"]))
    assert group in {one.group_id for one in listed.groups}
    assert consumers not in {one.group_id for one in listed.groups}


def test_every_partition_has_a_member_and_every_member_a_partition(client: WireClient, group: str, topic: str) -> None:
    group = group_of_first_broker()

    def beat(member: str, epoch: int = 0, topics: list[str] | None = None) -> Any:
        return client.call(76, 1, share_heartbeat_request(group, topics, member, epoch))

    def given(answer: Any) -> set[int]:
        return {number for each in answer.assignment.topic_partitions for number in each.partitions}

    first = beat("m0", topics=[topic])
    assert given(first) == {0, 1, 2}
    for number in range(1, 5):
        assert beat(f"m{number}", topics=[topic]).error_code.value == 0
    answers = [beat(f"m{number}", epoch) for number, epoch in enumerate(range(1, 6))]
    shares = [given(answer) for answer in answers if answer.assignment is not None]
    assert all(shares) and set().union(*shares) == {0, 1, 2}
    assert beat("nobody", 3).error_code.value == UNKNOWN_MEMBER


def test_a_group_chooses_its_own_timeouts(client: WireClient, name: str, topic_id: bytes) -> None:
    group = group_of_first_broker()
    assert group_config(client, group, share_heartbeat_interval_ms="700", consumer_heartbeat_interval_ms="900")
    assert client.call(76, 1, share_heartbeat_request(group, [name])).heartbeat_interval.total_seconds() == 0.7
    refused = group_config(client, group, share_heartbeat_interval_ms="60000")
    assert refused.error_code.value == INVALID_CONFIG and "share.session.timeout.ms" in refused.error_message
    consumers = group_of_first_broker()
    group_config(client, consumers, consumer_heartbeat_interval_ms="900")
    beat = client.call(68, 1, consumer_heartbeat_request(consumers, [name]))
    assert beat.heartbeat_interval.total_seconds() == 0.9


def test_configs_of_a_group_reach_the_other_broker(
    lakestream: Running, client: WireClient, other_client: WireClient
) -> None:
    group = group_of_first_broker()
    assert group_config(client, group, share_delivery_count_limit="7").error_code.value == 0
    api = messages.api(32)

    def shown(asked: WireClient) -> tuple[str, int]:
        resource = api.request.DescribeConfigsResource(
            resource_type=32, resource_name=group, configuration_keys=["share.delivery.count.limit"]
        )
        (config,) = asked.call(32, 4, api.Request(resources=[resource])).results[0].configs
        return config.value, config.config_source

    assert shown(client) == ("7", 8)
    deadline = time.monotonic() + 10
    while shown(other_client) != ("7", 8):
        assert time.monotonic() < deadline
        time.sleep(0.05)
