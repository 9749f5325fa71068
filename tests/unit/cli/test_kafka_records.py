"""The commands' own record batches: what is built is read, and other clients agree."""

import pytest
from aiokafka.record.default_records import DefaultRecordBatch
from hypothesis import given
from hypothesis import strategies as st

from lakestream.cli.client.kafka_records import ConsumedRecord, build_batch, read_batches
from lakestream.cli.client.partitioner import murmur2, partition_of_key
from lakestream.cli.failures import CommandFailed
from lakestream.storage.records.header import Codec

contents = st.none() | st.binary(max_size=40)
records = st.builds(
    ConsumedRecord,
    key=contents,
    value=contents,
    headers=st.lists(st.tuples(st.text(max_size=8), contents), max_size=3),
    timestamp_ms=st.integers(0, 2**42),
)


@given(st.lists(records, min_size=1, max_size=20), st.sampled_from(Codec))
def test_a_batch_reads_back_as_it_was_built(built: list[ConsumedRecord], codec: Codec) -> None:
    [(after, read)] = list(read_batches(memoryview(build_batch(built, codec))))
    assert after == len(built)
    assert read == [record._replace(offset=offset) for offset, record in enumerate(built)]


@given(st.lists(records, min_size=1, max_size=5))
def test_another_client_reads_the_same(built: list[ConsumedRecord]) -> None:
    batch = DefaultRecordBatch(build_batch(built, Codec.NONE))
    assert batch.validate_crc()
    read = [ConsumedRecord(r.key, r.value, list(r.headers), r.timestamp, r.offset) for r in batch]
    assert read == [record._replace(offset=offset, headers=list(record.headers)) for offset, record in enumerate(built)]


def test_a_batch_cut_off_at_the_end_is_left_out() -> None:
    batch = build_batch([ConsumedRecord(None, b"x", (), 1)], Codec.NONE)
    assert len(list(read_batches(memoryview(batch + batch[:-1])))) == 1


def test_a_damaged_batch_is_named() -> None:
    batch = bytearray(build_batch([ConsumedRecord(None, b"x", (), 1)], Codec.NONE))
    batch[-1] ^= 1
    with pytest.raises(CommandFailed, match="checksum"):
        list(read_batches(memoryview(batch)))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_keys_are_hashed_as_the_java_client_does(key: bytes, expected: int) -> None:
    assert murmur2(key) == expected & 0xFFFFFFFF
    assert 0 <= partition_of_key(key, 7) < 7
