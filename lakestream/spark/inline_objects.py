"""An object store to which the bytes of inline spans were added, which lie in no object and came with the plan."""

from collections.abc import Mapping

from lakestream.model.place import Span
from lakestream.storage.wal.segment import segment_key
from lakestream.world.objects.store import Buffer, ObjectStore


class WithInline:
    """Reads ranges of segments, inline or not."""

    def __init__(self, objects: ObjectStore, inline: Mapping[Span, bytes]) -> None:
        self._objects = objects
        self._inline: dict[str, list[tuple[int, bytes]]] = {}
        """By the key that an object of the segment would have: positions in the segment, and the bytes there."""
        for span, data in inline.items():
            self._inline.setdefault(segment_key(span.segment), []).append((span.at, data))

    async def get_range(self, key: str, at: int, length: int) -> Buffer:
        """Of an inline segment only the spans of the plan are known; the rest of the range is zeros."""
        pieces = self._inline.get(key)
        if pieces is None:
            return await self._objects.get_range(key, at, length)
        found = bytearray(length)
        for start, data in pieces:
            if at <= start and start + len(data) <= at + length:
                found[start - at : start - at + len(data)] = data
        return found
