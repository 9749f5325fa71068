"""The hash of a record: XXH64 as published, over every part of it."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lakestream.storage.records.decode import SCHEMA
from lakestream.table.verify.hashing import _hash_bytes, _hash_long, record_hashes


def xxh64(content: bytes, seed: int = 0) -> int:
    return int(_hash_bytes(np.frombuffer(content, np.uint8), 0, len(content), np.uint64(seed)))


@pytest.mark.parametrize(
    ("content", "published"),
    [
        (b"", 0xEF46DB3751D8E999),
        (b"a", 0xD24EC4F1A98C6E5B),
        (b"abc", 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_bytes_are_hashed_as_published(content: bytes, published: int) -> None:
    assert xxh64(content) == published


@pytest.mark.parametrize("number", [0, 1, -1, 2**63 - 1, -(2**63)])
def test_a_number_is_hashed_as_its_eight_bytes(number: int) -> None:
    assert int(_hash_long(np.int64(number), np.uint64(42))) == xxh64(number.to_bytes(8, "little", signed=True), seed=42)


RECORD: dict[str, Any] = {"offset": 7, "timestamp": 1000, "key": b"k", "value": b"v", "headers": []}


@pytest.mark.parametrize(
    "change",
    [
        {"offset": 8},
        {"timestamp": -1},
        {"key": None},
        {"key": b""},
        {"key": b"kv", "value": b""},
        {"value": None},
        {"value": b""},
        {"value": b"w"},
        {"headers": [{"key": "", "value": None}]},
        {"headers": [{"key": "a", "value": None}, {"key": "b", "value": b"c"}]},
        {"headers": [{"key": "a", "value": b"b"}, {"key": "c", "value": None}]},
    ],
)
def test_whatever_changes_in_a_record_changes_its_hash(change: dict[str, Any]) -> None:
    others = [RECORD, {**RECORD, "key": b"", "value": b"kv"}, {**RECORD, "headers": [{"key": "a", "value": None}]}]
    hashes = record_hashes(pa.RecordBatch.from_pylist([*others, RECORD | change], schema=SCHEMA)).tolist()
    assert len(set(hashes)) == len(hashes)


def test_no_records_have_no_hashes() -> None:
    assert len(record_hashes(pa.RecordBatch.from_pylist([], schema=SCHEMA))) == 0
