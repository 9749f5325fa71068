"""Record batches for storage tests: small, real, made by our own encoder."""

import pyarrow as pa

from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.wal.batch import WalBatch

TOPIC = b"T" * 16


def record_batch(count: int = 1, *, value: bytes = b"v", timestamp_ms: int = 1_000) -> bytes:
    """One uncompressed batch of `count` records, as a producer sends it: based at 0."""
    rows = pa.record_batch(
        {
            "offset": list(range(count)),
            "timestamp": [timestamp_ms + i for i in range(count)],
            "key": [None] * count,
            "value": [value] * count,
            "headers": [[]] * count,
        },
        schema=SCHEMA,
    )
    (batch,) = encode_batches(rows, batch_bytes_max=1 << 30)
    return bytes(batch)


def wal_batch(
    partition: int = 1,
    count: int = 1,
    *,
    value: bytes = b"v",
    producer_id: int = -1,
    sequence: int = -1,
    timestamp_ms: int = 1_000,
    log_append_time: bool = False,
) -> WalBatch:
    return WalBatch(
        topic_id=TOPIC,
        partition_index=partition - 1,
        partition=partition,
        data=record_batch(count, value=value, timestamp_ms=timestamp_ms),
        records=count,
        max_timestamp_ms=timestamp_ms + count - 1,
        log_append_time=log_append_time,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=sequence,
    )
