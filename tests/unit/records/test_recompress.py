"""Batches in their topic's codec: the same records, the same producer, another coat."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings

from lakestream.broker.gate import INLINE_COMPRESSED_BYTES_MAX, INLINE_LZ4_BYTES_MAX, Gate
from lakestream.model.configs.topic_config import Compression, typed_topic_config
from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.errors import BatchTooLarge
from lakestream.storage.records.header import Bytes, Codec, crc_of, read_header
from lakestream.storage.records.recompress import replay_codec
from lakestream.storage.records.validate import validate_batch
from lakestream.world.clock import SystemClock
from lakestream.world.threads import InlineThreads

from .samples import LIMITS, NOW_MS, ROWS, Row, dense_rows, one_batch, with_fields

CODECS = list(Codec)


def rows_of(batch: Bytes) -> list[Row]:
    rows: list[Row] = decode_batches(batch, bytes_max=1 << 26).to_pylist()
    return rows


@pytest.mark.parametrize("wanted", CODECS)
@pytest.mark.parametrize("sent", CODECS)
def test_a_batch_comes_out_in_the_codec_of_its_topic_with_everything_else_as_it_was(sent: Codec, wanted: Codec) -> None:
    batch = with_fields(one_batch(ROWS, sent), producer_id=9, producer_epoch=3, base_sequence=70, max_timestamp_ms=0)
    valid = validate_batch(batch, replace(LIMITS, codec=wanted))
    if sent is wanted:
        assert valid.data is batch
        return
    before, after = read_header(batch), read_header(valid.data)
    assert after.codec_number == wanted
    assert after.crc == crc_of(valid.data)
    assert after.total_bytes == len(valid.data)
    assert after.max_timestamp_ms == NOW_MS + 9, "the true one, since the batch is written anew"
    anew = {"attributes": 0, "batch_length": 0, "crc": 0, "max_timestamp_ms": 0}
    assert before._replace(**anew) == after._replace(**anew)
    assert rows_of(valid.data) == ROWS
    assert validate_batch(valid.data, LIMITS).data is valid.data


@settings(max_examples=25)
@given(dense_rows(min_size=1))
def test_any_records_survive_being_compressed_again(rows: list[Row]) -> None:
    sent = one_batch(rows, Codec.ZSTD)
    for wanted in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4):
        assert rows_of(validate_batch(sent, replace(LIMITS, codec=wanted)).data) == rows_of(sent)


def test_a_batch_that_grows_beyond_the_bound_of_its_topic_is_refused() -> None:
    rows = [{**row, "value": b"v" * 4000} for row in ROWS]
    small = one_batch(rows, Codec.ZSTD)
    limits = replace(LIMITS, batch_bytes_max=2000)
    assert validate_batch(small, limits)
    with pytest.raises(BatchTooLarge):
        validate_batch(small, replace(limits, codec=Codec.NONE))


def test_the_gate_recompresses_also_where_records_are_not_validated_and_in_a_thread_where_it_takes_long() -> None:
    gate = Gate(clock=SystemClock(), threads=InlineThreads(), inner=False, decompressed_bytes_max=1 << 20)
    lz4, plain, as_sent = (
        typed_topic_config({"compression.type": name}) for name in ("lz4", "uncompressed", "producer")
    )
    batch = one_batch(ROWS)
    assert read_header(gate.check(batch, lz4, zstd_allowed=True).data).codec_number == Codec.LZ4
    assert gate.check(batch, plain, zstd_allowed=True).data is batch
    assert gate.check(batch, as_sent, zstd_allowed=True).data is batch
    large = one_batch([{**ROWS[0], "value": b"v" * INLINE_COMPRESSED_BYTES_MAX}])
    assert gate.is_heavy(large, lz4)
    assert not gate.is_heavy(large, plain)
    assert not gate.is_heavy(large, as_sent)


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec != Codec.NONE])
def test_what_decompresses_in_a_moment_needs_no_thread(codec: Codec) -> None:
    noise = Random(7).randbytes(INLINE_LZ4_BYTES_MAX)
    inline_bytes_max = INLINE_LZ4_BYTES_MAX if codec is Codec.LZ4 else INLINE_COMPRESSED_BYTES_MAX
    assert not is_heavy(noise[: inline_bytes_max // 2], codec)
    assert is_heavy(noise[:inline_bytes_max], codec)


def test_a_small_lz4_batch_that_swells_is_opened_in_a_thread() -> None:
    swelling = bytes(2 * INLINE_LZ4_BYTES_MAX)
    assert len(one_batch([{**ROWS[0], "value": swelling}], Codec.LZ4)) < INLINE_COMPRESSED_BYTES_MAX
    assert is_heavy(swelling, Codec.LZ4)


def is_heavy(value: bytes, codec: Codec) -> bool:
    gate = Gate(clock=SystemClock(), threads=InlineThreads(), inner=True, decompressed_bytes_max=1 << 20)
    as_sent = typed_topic_config({"compression.type": "producer"})
    return gate.is_heavy(one_batch([{**ROWS[0], "value": value}], codec), as_sent)


def test_compressed_records_are_replayed_in_the_codec_of_their_topic() -> None:
    assert replay_codec(Compression.PRODUCER) is Codec.LZ4
    assert replay_codec(Compression.UNCOMPRESSED) is Codec.NONE
    assert [replay_codec(Compression(name)) for name in ("gzip", "snappy", "lz4", "zstd")] == CODECS[1:]
