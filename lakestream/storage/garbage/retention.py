"""Retention: drops a partition's oldest spans once they are too old or exceed the size limit.

Dropping a span only releases its segment; the object goes later (sweep.py), so readers can finish.
"""

from collections.abc import Iterable

from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.topic_config import typed_topic_config
from lakestream.model.topic import Topic

SPANS_MAX = 1_000
"""Spans dropped in one transaction: a longer transaction would hold up commits."""
ROUNDS_MAX = 100


async def apply_retention(store: MetadataStore, topics: Iterable[Topic]) -> int:
    """One pass over all topics that limit their retention. Returns how many spans were dropped."""
    dropped = 0
    now_ms = await store.now_ms()
    for topic in topics:
        config = typed_topic_config(topic.config)
        if config.retention_ms is None and config.retention_bytes is None:
            continue
        expired_before_ms = None if config.retention_ms is None else now_ms - config.retention_ms
        for partition in topic.partitions:
            dropped += await _drop_old(store, partition, expired_before_ms, config.retention_bytes)
    return dropped


async def _drop_old(store: MetadataStore, partition: int, expired_before_ms: int | None, bytes_max: int | None) -> int:
    dropped = 0
    for _ in range(ROUNDS_MAX):
        count = await store.apply_retention(
            partition, expired_before_ms=expired_before_ms, bytes_max=bytes_max, spans_max=SPANS_MAX
        )
        dropped += count
        if count < SPANS_MAX:
            break
    return dropped
