"""Recompresses batches in their topic's codec where the producer chose another.

    records, decompressed for validation -> compressed again -> the producer's header with new codec, length, times, CRC

Everything else stays: counts, deltas, producer, epoch and sequence, so that the store still recognizes a retry.
"""

from lakestream.model.configs.topic_config import Compression
from lakestream.storage.records.compression import compress
from lakestream.storage.records.header import (
    CODEC_MASK,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    BatchHeader,
    Bytes,
    Codec,
    crc_of,
    pack_header,
)

STORED_CODECS = {
    Compression.UNCOMPRESSED: Codec.NONE,
    Compression.GZIP: Codec.GZIP,
    Compression.SNAPPY: Codec.SNAPPY,
    Compression.LZ4: Codec.LZ4,
    Compression.ZSTD: Codec.ZSTD,
}
"""`producer` is missing on purpose: batches of such topics stay unchanged."""


def replay_codec(compression: Compression) -> Codec:
    """The codec in which compressed records are sent once they lie in a table, which does not keep the original
    bytes."""
    return STORED_CODECS.get(compression, Codec.LZ4)


def recompressed(header: BatchHeader, records: Bytes, codec: Codec, *, max_timestamp_ms: int) -> memoryview:
    """A batch of the same records. `records` are not compressed; `max_timestamp_ms` is the true one."""
    body = compress(codec, records)
    batch = memoryview(bytearray().join((bytes(HEADER_BYTES), body)))
    changed = header._replace(
        batch_length=len(batch) - LENGTH_OVERHEAD_BYTES,
        attributes=header.attributes & ~CODEC_MASK | codec,
        max_timestamp_ms=max_timestamp_ms,
    )
    batch[:HEADER_BYTES] = pack_header(changed)
    batch[:HEADER_BYTES] = pack_header(changed._replace(crc=crc_of(batch)))
    return batch
