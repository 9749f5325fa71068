"""Batches in the codec that their topic wants, where the producer chose another.

    records, opened for validation -> compressed anew -> the producer's header, with codec, length, times, CRC made true

Everything else stays: counts, deltas, producer, epoch and sequence, so that a retry is still known for what it is.
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
"""`producer` is not among them: its batches stay as they are."""


def replay_codec(compression: Compression) -> Codec:
    """How records that were compressed are sent once they lie in a table: rows do not remember a codec's own bytes."""
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
