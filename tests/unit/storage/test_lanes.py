"""Two lanes into the log: a fast topic does not wait for a diskless one, and a change of profile keeps the order."""

import asyncio
from collections.abc import Awaitable, Callable

from lakestream.metadata.store import ViewAsk
from lakestream.model.configs.profile import Profile
from lakestream.model.place import is_inline
from lakestream.storage.wal.lanes import WalLanes
from tests.unit.storage.batches import wal_batch
from tests.unit.storage.test_flusher import World, run


def run_lanes(story: Callable[[WalLanes, World, asyncio.Event], Awaitable[None]]) -> None:
    """A story with two lanes over one store. Puts of the diskless lane wait for the event."""

    async def whole(world: World) -> None:
        gate = asyncio.Event()
        put = world.wal._objects.put

        async def held(key: str, parts: object) -> None:
            await gate.wait()
            await put(key, parts)  # type: ignore[arg-type]

        world.wal._objects.put = held  # type: ignore[method-assign]
        lanes = WalLanes(fast=world.another(inline=True, profile=Profile.FAST), diskless=world.wal)
        lanes._lanes[Profile.FAST].start()
        await story(lanes, world, gate)
        gate.set()

    run(whole)


def test_a_fast_batch_does_not_wait_for_the_upload_of_a_diskless_one() -> None:
    async def story(lanes: WalLanes, world: World, gate: asyncio.Event) -> None:
        slow = lanes.append(wal_batch(1), Profile.DISKLESS)
        assert (await lanes.append(wal_batch(2), Profile.FAST)).base_offset == 0
        assert not slow.done()
        gate.set()
        assert (await slow).base_offset == 0

    run_lanes(story)


def test_a_partition_that_becomes_fast_keeps_its_order() -> None:
    async def story(lanes: WalLanes, world: World, gate: asyncio.Event) -> None:
        uploading = lanes.append(wal_batch(1, 2), Profile.DISKLESS)
        await asyncio.sleep(0.05)
        buffered = lanes.append(wal_batch(1, 3), Profile.DISKLESS)
        fast = [lanes.append(wal_batch(1, 4), Profile.FAST) for _ in range(2)]
        await asyncio.sleep(0.05)
        assert not any(answer.done() for answer in (uploading, buffered, *fast))
        gate.set()
        results = await asyncio.gather(uploading, buffered, *fast)
        assert [result.base_offset for result in results] == [0, 2, 5, 9]

    run_lanes(story)


def test_a_partition_can_change_to_and_fro_under_load() -> None:
    async def story(lanes: WalLanes, world: World, gate: asyncio.Event) -> None:
        gate.set()
        answers = []
        for number in range(200):
            profile = Profile.FAST if number // 7 % 2 else Profile.DISKLESS
            answers.append(lanes.append(wal_batch(1), profile))
            if number % 5 == 0:
                await asyncio.sleep(0)
        results = await asyncio.gather(*answers)
        assert [result.base_offset for result in results] == list(range(200))
        (view,) = await world.store.views([ViewAsk(1, 0, 1000)])
        assert view is not None
        places = {is_inline(span.segment) for span in view.spans}  # type: ignore[union-attr]
        assert places == {True, False}, "both lanes were used"

    run_lanes(story)


def test_closing_answers_both_lanes() -> None:
    async def story(lanes: WalLanes, world: World, gate: asyncio.Event) -> None:
        gate.set()
        answers = [lanes.append(wal_batch(1), profile) for profile in (Profile.FAST, Profile.DISKLESS, Profile.FAST)]
        await lanes.close()
        assert [answer.result().base_offset for answer in answers] == [0, 1, 2]

    run_lanes(story)
