"""One class for all versions, tagged fields that may or may not come, and records that are never copied."""

import pytest

from lakestream.protocol.kafka.wire import messages
from lakestream.protocol.kafka.wire.errors import MalformedRequest, UnsupportedRequest
from lakestream.protocol.kafka.wire.primitives import read_uvarint, uvarint
from lakestream.protocol.kafka.wire.records import Iovec

PRODUCE, FETCH, HEARTBEAT = 0, 1, 12
TOPIC_ID = bytes(range(16))


def encoded(codec: messages.MessageCodec, value: object) -> bytes:
    out: list[bytes | bytearray | memoryview] = []
    codec.encode(value, out)
    return b"".join(out)


def test_one_response_serves_every_version() -> None:
    api = messages.api(PRODUCE)
    partition = api.PartitionProduceResponse(index=3, base_offset=41, log_start_offset=7, error_message="late")
    response = api.Response(
        responses=[api.TopicProduceResponse(name="orders", topic_id=TOPIC_ID, partition_responses=[partition])]
    )
    for version in api.versions:
        codec = messages.response(PRODUCE, version)
        decoded, _ = codec.decode(memoryview(encoded(codec, response)), 0)
        topic = decoded.responses[0]
        assert topic.partition_responses[0].base_offset == 41
        assert topic.partition_responses[0].log_start_offset == (7 if version >= 5 else -1)
        assert topic.partition_responses[0].error_message == ("late" if version >= 8 else None)
        assert (topic.name, topic.topic_id) == (("", TOPIC_ID) if version >= 13 else ("orders", bytes(16)))


def test_a_field_that_no_version_has_is_refused() -> None:
    with pytest.raises(TypeError, match="base_ofset"):
        messages.api(PRODUCE).PartitionProduceResponse(base_ofset=1)


def test_a_version_that_does_not_exist_is_refused() -> None:
    for key, version in ((PRODUCE, 2), (PRODUCE, 99), (999, 0)):
        with pytest.raises(UnsupportedRequest):
            messages.request(key, version)


def test_a_tagged_struct_is_sent_only_if_it_says_something() -> None:
    api, codec = messages.api(FETCH), messages.request(FETCH, 15)
    silent = encoded(codec, api.Request())
    assert encoded(codec, api.Request(replica_state=api.request.ReplicaState())) == silent
    told = encoded(codec, api.Request(replica_state=api.request.ReplicaState(replica_id=4)))
    assert len(told) > len(silent)
    assert codec.decode(memoryview(told), 0)[0].replica_state.replica_id == 4
    assert codec.decode(memoryview(silent), 0)[0].replica_state.replica_id == -1


def test_tagged_arrays_and_structs_come_back() -> None:
    api, codec = messages.api(PRODUCE), messages.response(PRODUCE, 10)
    leader = api.LeaderIdAndEpoch(leader_id=2, leader_epoch=0)
    partition = api.PartitionProduceResponse(index=0, current_leader=leader)
    response = api.Response(
        responses=[api.TopicProduceResponse(name="t", partition_responses=[partition])],
        node_endpoints=[api.NodeEndpoint(node_id=2, host="two", port=9092, rack="a")],
    )
    assert codec.decode(memoryview(encoded(codec, response)), 0)[0] == response


@pytest.mark.parametrize("tags", [b"\x01\x63\x00", b"\x02\x63\x03abc\xe4\x03\x01z", b"\x01\xff\xff\xff\xff\x0f\x02hi"])
def test_tags_that_are_not_known_are_skipped(tags: bytes) -> None:
    codec = messages.request(HEARTBEAT, 4)
    request = messages.api(HEARTBEAT).Request(group_id="g", generation_id=5, member_id="m")
    plain = encoded(codec, request)
    assert plain.endswith(b"\0")
    decoded, at = codec.decode(memoryview(plain[:-1] + tags + b"rest"), 0)
    assert decoded == request
    assert at == len(plain) - 1 + len(tags)


def test_tags_that_are_not_known_are_skipped_beside_known_ones() -> None:
    codec, api = messages.request(FETCH, 12), messages.api(FETCH)
    known = encoded(codec, api.Request(cluster_id="here"))
    assert known.endswith(b"\x01\x00\x05\x05here")
    both = known[: -len(b"\x01\x00\x05\x05here")] + b"\x02" + b"\x00\x05\x05here" + b"\x63\x02??"
    assert codec.decode(memoryview(both), 0)[0].cluster_id == "here"


def test_a_tag_whose_size_is_not_that_of_its_value_is_malformed() -> None:
    codec, api = messages.request(FETCH, 12), messages.api(FETCH)
    known = encoded(codec, api.Request(cluster_id="here"))
    with pytest.raises(MalformedRequest, match="as long as it says"):
        codec.decode(memoryview(known[: -len(b"\x05\x05here")] + b"\x06\x05here!"), 0)


def test_records_are_decoded_as_a_view_of_the_frame() -> None:
    codec, api = messages.request(PRODUCE, 9), messages.api(PRODUCE)
    batch = b"r" * 70_000
    data = api.request.PartitionProduceData(index=0, records=batch)
    frame = encoded(codec, api.Request(topic_data=[api.request.TopicProduceData(name="t", partition_data=[data])]))
    records = codec.decode(memoryview(frame), 0)[0].topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is frame
    assert records == batch


def test_records_are_encoded_without_being_copied() -> None:
    codec, api = messages.response(FETCH, 12), messages.api(FETCH)
    one, two = b"a" * 10_000, memoryview(b"xx" + b"b" * 20_000)[2:]
    for records in (Iovec([one, two]), one + bytes(two)):
        partition = api.PartitionData(partition_index=1, records=records)
        response = api.Response(responses=[api.FetchableTopicResponse(topic="t", partitions=[partition])])
        out: list[bytes | bytearray | memoryview] = []
        codec.encode(response, out)
        parts = records.parts if isinstance(records, Iovec) else [records]
        assert all(any(each is part for each in out) for part in parts)
        decoded, _ = codec.decode(memoryview(b"".join(out)), 0)
        assert decoded.responses[0].partitions[0].records == one + bytes(two)


def test_an_iovec_knows_its_length() -> None:
    joined = Iovec([b"abc", memoryview(b"de")])
    joined.extend(Iovec([b"", b"f"]))
    assert (len(joined), bytes(joined)) == (6, b"abcdef")


def test_a_string_that_cannot_be_sent_is_refused_by_name() -> None:
    codec, api = messages.request(HEARTBEAT, 4), messages.api(HEARTBEAT)
    with pytest.raises(ValueError, match="group_id"):
        codec.encode(api.Request(group_id="x" * 40_000), [])


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**21, 2**31 - 1, 2**32 - 1])
def test_varints_come_back(value: int) -> None:
    assert read_uvarint(memoryview(uvarint(value)), 0) == (value, len(uvarint(value)))
