"""Work on users and ACLs in the metadata store itself: also before anything runs, and without logging in."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from lakestream.cli.options import loaded_settings
from lakestream.metadata.access_store import AccessStore
from lakestream.metadata.open import open_store
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids

T = TypeVar("T")


def on_access_store(config: Path | None, values: list[str] | None, verb: Callable[[AccessStore], Awaitable[T]]) -> T:
    settings = loaded_settings(config, values).settings

    async def run() -> T:
        clock = SystemClock()
        store = await open_store(settings.metadata_url, clock=clock, ids=Ids(clock, SystemChance()))
        try:
            return await verb(store.access)
        finally:
            await store.close()

    return asyncio.run(run())
