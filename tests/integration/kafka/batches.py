"""Record batches as producers send them, made and read by aiokafka's codec."""

import struct
import time
from collections.abc import Sequence
from typing import Any

from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords
from crc32c import crc32c

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
CRC_AT, ATTRIBUTES_AT = 17, 21


def now_ms() -> int:
    return int(time.time() * 1000)


def batch(
    values: Sequence[bytes | None] = (b"value",),
    *,
    key: bytes | None = None,
    keys: Sequence[bytes | None] = (),
    codec: int = NONE,
    timestamps: Sequence[int] = (),
    producer: tuple[int, int, int] = (-1, -1, -1),
    transactional: bool = False,
) -> bytes:
    """`key`: of all records; `keys`: of each. `producer`: id, epoch, base sequence."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=codec,
        is_transactional=int(transactional),
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=producer[2],
        batch_size=1 << 30,
    )
    for at, value in enumerate(values):
        timestamp = timestamps[at] if timestamps else now_ms()
        builder.append(at, timestamp=timestamp, key=keys[at] if keys else key, value=value, headers=[])
    return bytes(builder.build())


def patched(data: bytes, at: int, form: str, value: Any) -> bytes:
    """The batch with one header field changed, and a checksum that fits."""
    changed = bytearray(data)
    struct.pack_into(">" + form, changed, at, value)
    struct.pack_into(">I", changed, CRC_AT, crc32c(bytes(changed[ATTRIBUTES_AT:])))
    return bytes(changed)


def records(data: bytes | None) -> list[Any]:
    """Every record, with checksums verified."""
    found = []
    reader = MemoryRecords(bytes(data or b""))
    while reader.has_next():
        each = reader.next_batch()
        assert each.validate_crc()
        found += list(each)
    return found
