"""Hostile input: no mutation of a batch crashes, reads or writes out of bounds, or means two things to two readers."""

import random
import re
import subprocess
import sys

import pytest

from lakestream.storage.records.compression import compress
from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.errors import BadBatch
from lakestream.storage.records.header import HEADER_BYTES, Codec
from lakestream.storage.records.validate import validate_batch
from tests.unit.records.guarded import mutated
from tests.unit.records.samples import BYTES_MAX, LIMITS, ROWS, one_batch, read_by_kafka_python, with_records

MUTATIONS = 3000


def test_no_mutation_reads_or_writes_out_of_bounds() -> None:
    command = [sys.executable, "-m", "tests.unit.records.guarded", "7", str(MUTATIONS)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 0, run.stderr
    passed, refused = map(int, re.findall(r"\d+", run.stdout))
    assert passed + refused == MUTATIONS
    assert passed > MUTATIONS // 100, "mutations should be small enough that some stay valid"
    assert refused > MUTATIONS // 2


@pytest.mark.parametrize("codec", Codec)
def test_a_mutated_batch_with_a_proper_checksum_is_refused_or_read_by_all_alike(codec: Codec) -> None:
    chance = random.Random(11)
    batch = one_batch(ROWS)
    coded = one_batch(ROWS, codec)
    accepted = 0
    for _ in range(400):
        records = mutated(chance, batch[HEADER_BYTES:])
        hostile = with_records(coded, bytes(compress(codec, records)))
        try:
            validate_batch(hostile, LIMITS)
        except BadBatch:
            continue
        accepted += 1
        decoded = decode_batches(hostile, bytes_max=BYTES_MAX)
        decoded.validate(full=True)
        plain = with_records(batch, records)  # kafka-python lacks some codecs here
        assert decoded.to_pylist() == read_by_kafka_python(plain)
    assert accepted > 0


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec is not Codec.NONE])
def test_mutated_compressed_bytes_are_refused_or_bounded(codec: Codec) -> None:
    chance = random.Random(13)
    coded = one_batch(ROWS, codec)
    refused = 0
    for _ in range(400):
        hostile = with_records(coded, mutated(chance, coded[HEADER_BYTES:]))
        try:
            validate_batch(hostile, LIMITS)
        except BadBatch:
            refused += 1
    assert refused > 100


def test_mutated_headers_are_refused_or_true() -> None:
    chance = random.Random(17)
    batch = one_batch(ROWS)
    for _ in range(1000):
        hostile = mutated(chance, batch[:HEADER_BYTES]) + batch[HEADER_BYTES:]
        try:
            validate_batch(hostile, LIMITS)
        except BadBatch:
            continue
        assert hostile[16:] == batch[16:]  # only what lies outside of the checksum can have changed
