"""Record batches as producers send them, and what of them must come back unchanged.

A served batch differs from the sent one in its base offset and leader epoch, and where the broker's time
counts also in type, max timestamp and CRC. All else, `identity`, stays, and is different for every batch made.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from lakestream.storage.records.decode import SCHEMA, decode_batches
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import (
    HEADER_BYTES,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Codec,
    batch_bytes,
    crc_of,
    pack_header,
    read_header,
)

_LAST_OFFSET_DELTA_AT, _MAX_TIMESTAMP_AT, _PRODUCER_ID_AT = 23, 35, 43


class Sent(NamedTuple):
    """A record as its producer made it. No two have the same value."""

    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes | None], ...]


class Producer(NamedTuple):
    id: int
    epoch: int
    base_sequence: int


NOBODY = Producer(-1, -1, -1)


def make_batch(
    records: Sequence[Sent], timestamps: Sequence[int], codec: Codec, producer: Producer, *, transactional: bool = False
) -> bytes:
    rows = pa.RecordBatch.from_pydict(
        {
            "offset": list(range(len(records))),
            "timestamp": list(timestamps),
            "key": [record.key for record in records],
            "value": [record.value for record in records],
            "headers": [[{"key": name, "value": value} for name, value in record.headers] for record in records],
        },
        schema=SCHEMA,
    )
    (encoded,) = encode_batches(rows, batch_bytes_max=1 << 30, codec=codec)
    header = read_header(encoded)._replace(
        producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=producer.base_sequence, crc=0
    )
    if transactional:
        header = header._replace(attributes=header.attributes | TRANSACTIONAL_BIT)
    unsigned = pack_header(header) + bytes(encoded[HEADER_BYTES:])
    return pack_header(header._replace(crc=crc_of(unsigned))) + unsigned[HEADER_BYTES:]


def identity(batch: bytes) -> bytes:
    return batch[_LAST_OFFSET_DELTA_AT:_MAX_TIMESTAMP_AT] + batch[_PRODUCER_ID_AT:]


class Row(NamedTuple):
    """A record as it was read: from a batch, or from a file of a table."""

    offset: int
    timestamp: int
    sent: Sent


class Served(NamedTuple):
    header: BatchHeader
    data: bytes

    @property
    def last_offset(self) -> int:
        return self.header.base_offset + self.header.last_offset_delta


def served_batches(run: bytes) -> Iterator[Served]:
    at = 0
    while at < len(run):
        size = batch_bytes(run, at)
        data = run[at : at + size]
        yield Served(read_header(data), data)
        at += size


def rows_of(batch: Served) -> list[Row]:
    base_offset = batch.header.base_offset
    decoded = decode_batches(batch.data, bytes_max=1 << 30, base_offsets=[base_offset]).to_pylist()
    return [Row(row["offset"], row["timestamp"], sent_of(row["key"], row["value"], row["headers"])) for row in decoded]


def sent_of(key: bytes | None, value: bytes, headers: Sequence[dict[str, Any]]) -> Sent:
    return Sent(key, value, tuple((header["key"], header["value"]) for header in headers))
