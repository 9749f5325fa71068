"""ListOffsets, DeleteRecords and OffsetForLeaderEpoch: where a partition begins, ends, and was at a time."""

from typing import Any

import pytest

from lakestream.protocol.kafka.wire import messages

from .batches import GZIP, batch, records
from .running import Running
from .wire_client import WireClient

OUT_OF_RANGE, UNKNOWN_TOPIC, UNSUPPORTED_VERSION, UNKNOWN_LEADER_EPOCH = 1, 3, 35, 75
T = 1_700_000_000_000


def _fill(client: WireClient, topic: str) -> None:
    """Times by offset: T+0, T+30, T+20, T+50, T+10, T+50"""
    client.produce(topic, batch([b"0", b"1", b"2"], timestamps=[T, T + 30, T + 20]))
    client.produce(topic, batch([b"3", b"4", b"5"], timestamps=[T + 50, T + 10, T + 50], codec=GZIP))


def _at(client: WireClient, topic: str, timestamp: int) -> tuple[int, int]:
    answer = client.list_offset(topic, timestamp)
    assert (answer.error_code.value, answer.leader_epoch) == (0, 0)
    return answer.offset, -1 if answer.timestamp is None else _ms(answer.timestamp)


def _ms(value: Any) -> int:
    return value if isinstance(value, int) else round(value.timestamp() * 1000)


@pytest.mark.parametrize(
    ("asked", "offset", "timestamp"),
    [
        (-1, 6, -1),
        (-2, 0, -1),
        (-3, 3, T + 50),
        (-4, 0, -1),
        (-5, -1, -1),
        (-6, -1, -1),
        (0, 0, T),
        (T, 0, T),
        (T + 1, 1, T + 30),
        (T + 30, 1, T + 30),
        (T + 31, 3, T + 50),
        (T + 50, 3, T + 50),
        (T + 51, -1, -1),
    ],
)
def test_every_place_has_its_offset(asked: int, offset: int, timestamp: int, topic: str, client: WireClient) -> None:
    _fill(client, topic)
    assert _at(client, topic, asked) == (offset, timestamp)


@pytest.mark.parametrize(
    ("asked", "offset"), [(-1, 0), (-2, 0), (-3, -1), (-4, 0), (-5, -1), (-6, -1), (0, -1), (T, -1)]
)
def test_an_empty_partition_has_an_answer_to_all(asked: int, offset: int, topic: str, client: WireClient) -> None:
    assert _at(client, topic, asked) == (offset, -1)


@pytest.mark.parametrize(("asked", "since"), [(-3, 7), (-4, 8), (-5, 9), (-6, 11)])
def test_a_place_is_unknown_to_versions_before_it(asked: int, since: int, topic: str, client: WireClient) -> None:
    codes = [client.list_offset(topic, asked, version=version).error_code.value for version in (since - 1, since)]
    assert codes == [UNSUPPORTED_VERSION, 0]


def test_errors_of_one_partition_leave_the_others_alone(topic: str, client: WireClient) -> None:
    _fill(client, topic)
    api = messages.api(2)
    parts = [
        api.request.ListOffsetsPartition(partition_index=0, timestamp=-1),
        api.request.ListOffsetsPartition(partition_index=9, timestamp=-1),
        api.request.ListOffsetsPartition(partition_index=1, timestamp=-99),
        api.request.ListOffsetsPartition(partition_index=2, timestamp=-1, current_leader_epoch=4),
    ]
    topics = [
        api.request.ListOffsetsTopic(name=topic, partitions=parts),
        api.request.ListOffsetsTopic(name="nowhere", partitions=parts[:1]),
    ]
    first, second = client.call(2, 11, api.Request(replica_id=-1, topics=topics)).topics
    assert [(each.error_code.value, each.offset) for each in first.partitions] == [
        (0, 6),
        (UNKNOWN_TOPIC, -1),
        (UNSUPPORTED_VERSION, -1),
        (UNKNOWN_LEADER_EPOCH, -1),
    ]
    assert second.partitions[0].error_code.value == UNKNOWN_TOPIC


def test_the_end_covers_what_another_broker_acknowledged(
    topic: str, client: WireClient, other_client: WireClient
) -> None:
    for end in range(1, 30):
        writer, reader = (client, other_client) if end % 2 else (other_client, client)
        writer.produce(topic, batch())
        assert reader.list_offset(topic, -1).offset == end


# --- DeleteRecords


def _delete(client: WireClient, topic: str, offset: int, *, partition: int = 0) -> tuple[int, int]:
    api = messages.api(21)
    part = api.request.DeleteRecordsPartition(partition_index=partition, offset=offset)
    body = api.Request(topics=[api.request.DeleteRecordsTopic(name=topic, partitions=[part])], timeout=1000)
    ((answer,),) = [each.partitions for each in client.call(21, 2, body).topics]
    return answer.error_code.value, answer.low_watermark


def test_deleted_records_are_gone_at_every_broker(topic: str, client: WireClient, other_client: WireClient) -> None:
    _fill(client, topic)
    assert len(records(other_client.fetch(topic, 0).records)) == 6
    assert _delete(client, topic, 4) == (0, 4)
    for reader in (client, other_client):
        assert reader.list_offset(topic, -2).offset == 4
        assert reader.list_offset(topic, T).offset == 4, "times of deleted records count no more"
    assert client.fetch(topic, 3).error_code.value == OUT_OF_RANGE
    answer = client.fetch(topic, 4)
    assert answer.log_start_offset == 4
    assert [each.value for each in records(answer.records)][-2:] == [b"4", b"5"]


def test_deleting_up_to_minus_one_empties_the_partition_and_offsets_go_on(topic: str, client: WireClient) -> None:
    _fill(client, topic)
    assert _delete(client, topic, -1) == (0, 6)
    answer = client.produce(topic, batch())
    assert (answer.base_offset, answer.log_start_offset) == (6, 6)


def test_deleting_never_lowers_the_start(topic: str, client: WireClient) -> None:
    _fill(client, topic)
    assert [_delete(client, topic, offset) for offset in (3, 1)] == [(0, 3), (0, 3)]


@pytest.mark.parametrize(
    ("partition", "offset", "code"), [(0, 7, OUT_OF_RANGE), (0, -2, OUT_OF_RANGE), (9, 0, UNKNOWN_TOPIC)]
)
def test_a_wrong_deletion_is_refused(partition: int, offset: int, code: int, topic: str, client: WireClient) -> None:
    _fill(client, topic)
    assert _delete(client, topic, offset, partition=partition) == (code, -1)


def test_retention_raises_the_start_and_offsets_go_on(name: str, client: WireClient, lakestream: Running) -> None:
    client.create_topic(name, retention_ms="3600000")
    _fill(client, name)  # years ago
    client.produce(name, batch([b"young"]))
    lakestream.run(lakestream.local.brokers[0].duties.retention())
    assert (client.list_offset(name, -2).offset, client.list_offset(name, -1).offset) == (6, 7)
    assert client.produce(name, batch()).base_offset == 7


# --- OffsetForLeaderEpoch


@pytest.mark.parametrize(
    ("current", "epoch", "expected"),
    [(-1, 0, (0, 0, 6)), (0, 0, (0, 0, 6)), (0, -1, (0, 0, 6)), (0, 3, (0, -1, -1)), (2, 0, (75, -1, -1))],
)
def test_the_only_epoch_ends_at_the_end(
    current: int, epoch: int, expected: tuple[int, int, int], topic: str, client: WireClient
) -> None:
    _fill(client, topic)
    api = messages.api(23)
    part = api.request.OffsetForLeaderPartition(partition=0, current_leader_epoch=current, leader_epoch=epoch)
    body = api.Request(replica_id=-1, topics=[api.request.OffsetForLeaderTopic(topic=topic, partitions=[part])])
    ((answer,),) = [each.partitions for each in client.call(23, 4, body).topics]
    assert (answer.error_code.value, answer.leader_epoch, answer.end_offset) == expected
