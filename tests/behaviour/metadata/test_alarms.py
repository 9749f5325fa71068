"""on_change: soon after anyone has committed anything, look again."""

import asyncio

from lakestream.metadata.store import MetadataStore
from tests.behaviour.metadata.stage import Stage

SECONDS_MAX = 10


async def rings(event: asyncio.Event) -> None:
    async with asyncio.timeout(SECONDS_MAX):
        await event.wait()


def test_own_commits_ring(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        rung = asyncio.Event()
        store.on_change(rung.set)
        await stage.topic(store)
        await rings(rung)

    stage.run(scenario)


def test_commits_of_others_ring(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        if not stage.shared:
            return
        rung = asyncio.Event()
        store.on_change(rung.set)
        other = await stage.open()
        for _ in range(3):
            await asyncio.sleep(0.05)
            rung.clear()
            await stage.topic(other)
            await rings(rung)

    stage.run(scenario)


def test_every_listener_is_called_until_it_ends_it(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        calls: list[str] = []
        end_first = store.on_change(lambda: calls.append("first"))
        store.on_change(lambda: calls.append("second"))
        await stage.topic(store)
        await asyncio.sleep(0.01)
        assert {"first", "second"} <= set(calls)
        end_first()
        end_first()
        await asyncio.sleep(0.01)
        calls.clear()
        await stage.topic(store)
        await asyncio.sleep(0.01)
        assert set(calls) == {"second"}

    stage.run(scenario)


def test_a_failing_listener_harms_no_one(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)

        def fail() -> None:
            raise RuntimeError("a listener's own trouble")

        rung = asyncio.Event()
        store.on_change(fail)
        store.on_change(rung.set)
        await stage.topic(store)
        await rings(rung)
        await stage.topic(store)

    stage.run(scenario)
