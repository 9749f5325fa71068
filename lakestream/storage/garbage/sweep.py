"""The sweep deletes the objects of dead segments after their grace, and WAL objects that the store does not know.

An unknown object older than the grace belongs to a flush that never committed. The sweep abandons it first, so that its
writer, should it wake, can no longer commit it, and deletes it then.
"""

from collections.abc import AsyncIterator

from lakestream.metadata.store import MetadataStore
from lakestream.model.place import SegmentId
from lakestream.model.segment import Abandoned
from lakestream.storage.wal.segment import WAL_PREFIX, segment_key, segment_of_key
from lakestream.world.ids import is_ulid, ulid_ms
from lakestream.world.objects.store import ObjectStore

DELETE_BATCH = 500
FORGET_BATCH = 2_000
ROUNDS_MAX = 100


async def delete_dead_segments(store: MetadataStore, objects: ObjectStore, grace_ms: int) -> int:
    """Delete the objects of segments that died longer ago than the grace. Returns how many objects were deleted.
    Deleting one again after a crash does no harm."""
    deleted = 0
    for _ in range(ROUNDS_MAX):
        segments = await store.deletable_segments(grace_ms, DELETE_BATCH)
        if not segments:
            break
        await objects.delete([segment_key(segment) for segment in segments])
        await store.forget_segments(segments)
        deleted += len(segments)
    return deleted


async def forget_inline_segments(store: MetadataStore) -> None:
    """Drop the fates of inline segments whose bytes have been gone for a while."""
    for _ in range(ROUNDS_MAX):
        if await store.inline.forget(FORGET_BATCH) < FORGET_BATCH:
            break


async def abandon_unknown_objects(store: MetadataStore, objects: ObjectStore, grace_ms: int) -> int:
    """Abandon WAL objects that are older than the grace and have no fate. Returns how many."""
    older_than_ms = await store.now_ms() - grace_ms
    abandoned = 0
    async for segments in _old_segments(objects, older_than_ms):
        for segment in await store.unknown_segments(segments):
            if isinstance(await store.abandon_segment(segment), Abandoned):
                await objects.delete([segment_key(segment)])
                abandoned += 1
    return abandoned


async def _old_segments(objects: ObjectStore, older_than_ms: int) -> AsyncIterator[list[SegmentId]]:
    """Segment ids of WAL objects written before `older_than_ms`, by both the writer's clock and the object store's."""
    found: list[SegmentId] = []
    async for info in objects.list(WAL_PREFIX):
        segment = segment_of_key(info.key)
        if segment is None or not is_ulid(segment):
            continue
        if max(info.modified_ms, ulid_ms(segment)) < older_than_ms:
            found.append(segment)
        if len(found) >= DELETE_BATCH:
            yield found
            found = []
    if found:
        yield found
