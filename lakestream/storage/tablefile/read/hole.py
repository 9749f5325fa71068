"""Empty batches for holes: one at the end of an answer lets consumers' positions advance past the hole."""

from lakestream.storage.records.encode import EncodedBatch
from lakestream.storage.records.header import (
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    MAGIC,
    NO_PRODUCER,
    NO_TIMESTAMP,
    BatchHeader,
    Codec,
    crc_of,
    pack_header,
)

OFFSET_DELTA_MAX = 2**31 - 1


def empty_batch(base_offset: int, last_offset: int) -> EncodedBatch:
    """An empty batch from base to last, or as far as one batch can reach. Kafka's own log cleaner leaves such
    batches."""
    delta = min(last_offset - base_offset, OFFSET_DELTA_MAX)
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=HEADER_BYTES - LENGTH_OVERHEAD_BYTES,
        leader_epoch=0,
        magic=MAGIC,
        crc=0,
        attributes=Codec.NONE,
        last_offset_delta=delta,
        base_timestamp_ms=NO_TIMESTAMP,
        max_timestamp_ms=NO_TIMESTAMP,
        producer_id=NO_PRODUCER,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=0,
    )
    sealed = pack_header(header._replace(crc=crc_of(pack_header(header))))
    return EncodedBatch(base_offset, base_offset + delta, memoryview(sealed))
