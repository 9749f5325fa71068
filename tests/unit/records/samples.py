"""Records to test with: strategies for all shapes, and the builders and readers of other clients."""

from typing import Any

import pyarrow as pa
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch

from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import (
    CRC_AT,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    Codec,
    crc_of,
    pack_header,
    read_header,
)
from lakestream.storage.records.validate import Limits

Row = dict[str, Any]

BYTES_MAX = 1 << 26
NOW_MS = 1_763_000_000_000
LIMITS = Limits(
    batch_bytes_max=1 << 20,
    decompressed_bytes_max=BYTES_MAX,
    now_ms=NOW_MS,
    timestamp_before_max_ms=1 << 63,
    timestamp_after_max_ms=3_600_000,
)

ROWS: list[Row] = [
    {"offset": 0, "timestamp": NOW_MS, "key": b"first", "value": b"one", "headers": []},
    {"offset": 1, "timestamp": NOW_MS - 5, "key": None, "value": b"two", "headers": [{"key": "h", "value": b"x"}]},
    {"offset": 2, "timestamp": NOW_MS + 9, "key": b"", "value": None, "headers": [{"key": "", "value": None}]},
    {
        "offset": 3,
        "timestamp": NOW_MS + 9,
        "key": b"end",
        "value": b"v" * 300,
        "headers": 2 * [{"key": "é", "value": b""}],
    },
]

_headers = st.lists(
    st.fixed_dictionaries({"key": st.text(max_size=20), "value": st.none() | st.binary(max_size=40)}), max_size=4
)
_row = st.fixed_dictionaries(
    {
        "timestamp": st.integers(-1, NOW_MS + 3_600_000),
        "key": st.none() | st.binary(max_size=200),
        "value": st.none() | st.binary(max_size=400),
        "headers": st.just([]) | _headers,
    }
)


def dense_rows(*, min_size: int = 0) -> st.SearchStrategy[list[Row]]:
    """As a producer numbers them: from 0, without gaps."""
    return st.lists(_row, min_size=min_size, max_size=20).map(lambda rows: _numbered(rows, range(len(rows))))


@st.composite
def gapped_rows(draw: st.DrawFn) -> list[Row]:
    """As they lie in a log that has lost some: offsets anywhere, rising."""
    rows = draw(st.lists(_row, max_size=20))
    offsets = st.integers(0, 2**40)
    return _numbered(rows, sorted(draw(st.sets(offsets, min_size=len(rows), max_size=len(rows)))))


def _numbered(rows: list[Row], offsets: Any) -> list[Row]:
    return [{"offset": offset, **row} for offset, row in zip(offsets, rows, strict=True)]


def arrow(rows: list[Row]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def one_batch(rows: list[Row], codec: Codec = Codec.NONE) -> bytes:
    (batch,) = encode_batches(arrow(rows), batch_bytes_max=BYTES_MAX, codec=codec)
    return bytes(batch)


def with_fields(batch: bytes, **fields: int) -> bytes:
    """The batch with other header fields and the CRC to match, as a deceitful producer would send it."""
    return sealed(pack_header(read_header(batch)._replace(**fields)) + batch[HEADER_BYTES:])


def with_records(batch: bytes, records: bytes, **fields: int) -> bytes:
    """The batch with other bytes behind the header, and length and CRC to match."""
    length = HEADER_BYTES - LENGTH_OVERHEAD_BYTES + len(records)
    return with_fields(batch[:HEADER_BYTES] + records, batch_length=length, **fields)


def sealed(batch: bytes) -> bytes:
    return batch[:CRC_AT] + crc_of(batch).to_bytes(4, "big") + batch[CRC_AT + 4 :]


def built_by_aiokafka(rows: list[Row], codec: Codec = Codec.NONE) -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=codec, is_transactional=False,
        producer_id=-1, producer_epoch=-1, base_sequence=-1, batch_size=BYTES_MAX,
    )  # fmt: skip
    for row in rows:
        headers = [(header["key"], header["value"]) for header in row["headers"]]
        builder.append(row["offset"], row["timestamp"], row["key"], row["value"], headers)
    return bytes(builder.build())


def read_by_kafka_python(batch: bytes) -> list[Row]:
    return [
        {
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": record.key,
            "value": record.value,
            "headers": [{"key": key, "value": value} for key, value in record.headers],
        }
        for record in DefaultRecordBatch(batch)
    ]
