"""Batches that were stored once are readable for ever."""

import json
from dataclasses import replace

import pytest

from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import Codec, read_header
from lakestream.storage.records.timestamps import max_timestamp
from lakestream.storage.records.validate import validate_batch
from tests.golden.records.make import HERE, readable
from tests.unit.records.samples import BYTES_MAX, LIMITS

FACTS = json.loads((HERE / "rows.json").read_text())
CODECS = {
    "none": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy-xerial": Codec.SNAPPY,
    "snappy-raw": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd-with-size": Codec.ZSTD,
    "zstd-without-size": Codec.ZSTD,
}


def test_every_golden_batch_is_tested() -> None:
    assert {path.stem for path in HERE.glob("*.bin")} == {*CODECS, "log-append-time"}


@pytest.mark.parametrize("name", CODECS)
def test_a_golden_batch_holds_its_rows(name: str) -> None:
    batch = (HERE / f"{name}.bin").read_bytes()
    assert read_header(batch).codec_number == CODECS[name]
    rows = decode_batches(batch, bytes_max=BYTES_MAX).to_pylist()
    assert [readable(row) for row in rows] == FACTS["rows"]
    valid = validate_batch(batch, replace(LIMITS, now_ms=FACTS["rows"][0]["timestamp"]))
    assert valid.max_timestamp_ms == max(row["timestamp"] for row in FACTS["rows"])


def test_the_golden_stamped_batch_has_the_brokers_time() -> None:
    batch = (HERE / "log-append-time.bin").read_bytes()
    rows = decode_batches(batch, bytes_max=BYTES_MAX).to_pylist()
    assert [readable(row) for row in rows] == [{**row, "timestamp": FACTS["append_ms"]} for row in FACTS["rows"]]
    assert max_timestamp(batch, bytes_max=BYTES_MAX) == (0, FACTS["append_ms"])


def test_uncompressed_rows_are_encoded_to_the_very_bytes() -> None:
    golden = (HERE / "none.bin").read_bytes()
    (batch,) = encode_batches(decode_batches(golden, bytes_max=BYTES_MAX), batch_bytes_max=BYTES_MAX)
    assert bytes(batch) == golden
