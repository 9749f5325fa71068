"""Allocates producer ids, unique for ever, in blocks from the store, so that most requests need no round trip."""

import asyncio

from lakestream.metadata.store import MetadataStore

BLOCK = 1_000


class ProducerIds:
    def __init__(self, store: MetadataStore) -> None:
        self._store = store
        self._block = range(0)
        self._taking = asyncio.Lock()

    async def next(self) -> int:
        async with self._taking:
            if not self._block:
                self._block = await self._store.take_producer_ids(BLOCK)
            taken, self._block = self._block[0], self._block[1:]
            return taken
