"""The gate: validate a batch before anything else, and convert it to its topic's codec.

Quick work is done inline. Slow work (compression, slow or long decompression) is done in a thread, so that other
connections do not wait.
"""

from dataclasses import dataclass

from lakestream.model.configs.topic_config import TopicConfig
from lakestream.storage.records.frames import lz4_bytes_most
from lakestream.storage.records.header import ATTRIBUTES_AT, CODEC_MASK, HEADER_BYTES, Codec
from lakestream.storage.records.recompress import STORED_CODECS
from lakestream.storage.records.validate import Limits, ValidBatch, validate_batch
from lakestream.world.clock import Clock
from lakestream.world.objects.store import Buffer
from lakestream.world.threads import Threads

INLINE_BYTES_MAX = 2 * 1024 * 1024
INLINE_LZ4_BYTES_MAX = 512 * 1024
"""Most decompressed bytes, which the blocks tell in advance. The way to a thread and back would take as long."""
INLINE_COMPRESSED_BYTES_MAX = 8 * 1024
"""Most compressed bytes, for other codecs or for batches to be compressed again."""
ANY_TIME = 1 << 63
"""A bound that accepts any time of a producer, for topics that show the broker's time instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    clock: Clock
    threads: Threads
    inner: bool
    """Whether records inside the batch are checked one by one, as Kafka does (`produce.validation=full`). Records of
    compacted topics always are, because each must have a key; so are those of topics with a codec of their own."""
    decompressed_bytes_max: int

    def is_heavy(self, data: Buffer, config: TopicConfig) -> bool:
        """Whether validating takes long enough to be worth a thread."""
        if not self._looks_inside(config) or len(data) < HEADER_BYTES:
            return False
        came_in = data[ATTRIBUTES_AT + 1] & CODEC_MASK
        if STORED_CODECS.get(config.compression, came_in) != came_in:
            return len(data) > INLINE_COMPRESSED_BYTES_MAX
        if came_in == Codec.NONE:
            return len(data) > INLINE_BYTES_MAX
        if came_in == Codec.LZ4:
            records = memoryview(data)[HEADER_BYTES:]
            return lz4_bytes_most(records, INLINE_LZ4_BYTES_MAX + 1) > INLINE_LZ4_BYTES_MAX
        return len(data) > INLINE_COMPRESSED_BYTES_MAX

    def check(self, data: Buffer, config: TopicConfig, *, zstd_allowed: bool) -> ValidBatch:
        """Raises one of storage.records.errors."""
        return validate_batch(data, self._limits(config, zstd_allowed))

    async def check_in_thread(self, data: Buffer, config: TopicConfig, *, zstd_allowed: bool) -> ValidBatch:
        return await self.threads.run(validate_batch, data, self._limits(config, zstd_allowed))

    def _limits(self, config: TopicConfig, zstd_allowed: bool) -> Limits:
        return Limits(
            batch_bytes_max=config.max_message_bytes,
            decompressed_bytes_max=self.decompressed_bytes_max,
            timestamp_before_max_ms=ANY_TIME if config.log_append_time else config.timestamp_before_max_ms,
            timestamp_after_max_ms=ANY_TIME if config.log_append_time else config.timestamp_after_max_ms,
            now_ms=self.clock.wall_ms(),
            inner=self._looks_inside(config),
            keys_required=config.keys_required,
            codec=STORED_CODECS.get(config.compression),
            allow_zstd=zstd_allowed,
        )

    def _looks_inside(self, config: TopicConfig) -> bool:
        return self.inner or config.keys_required or config.compression in STORED_CODECS
