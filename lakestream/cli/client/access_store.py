"""Work on users and ACLs in the metadata store itself: also before anything runs, and without logging in."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from lakestream.catalog.names.lookup import TableNames
from lakestream.cli.options import loaded_settings
from lakestream.metadata.access_store import AccessStore
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids

T = TypeVar("T")


def on_access_store(config: Path | None, values: list[str] | None, verb: Callable[[AccessStore], Awaitable[T]]) -> T:
    return _on_store(config, values, lambda store: verb(store.access))


def topic_of_table(config: Path | None, values: list[str] | None, table: str) -> str | None:
    """The topic whose table has this name with dots, or is a branch of it. None: an ordinary table, or none."""
    namespace, _, name = table.rpartition(".")

    async def find(store: MetadataStore) -> str | None:
        found = await TableNames(store.tables).find(tuple(namespace.split(".")), name, unlisted=True)
        return None if found is None else found[0].topic_name

    return _on_store(config, values, find)


def _on_store(config: Path | None, values: list[str] | None, verb: Callable[[MetadataStore], Awaitable[T]]) -> T:
    settings = loaded_settings(config, values).settings

    async def run() -> T:
        clock = SystemClock()
        store = await open_store(settings.metadata_url, clock=clock, ids=Ids(clock, SystemChance()))
        try:
            return await verb(store)
        finally:
            await store.close()

    return asyncio.run(run())
