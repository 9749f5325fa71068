"""The mover: inline bytes of many flushes end in one object that says where they belong."""

import asyncio
from collections.abc import Sequence

import pytest

from lakestream.metadata.store import ViewAsk
from lakestream.model.errors import StoreUnavailable
from lakestream.model.place import is_inline
from lakestream.storage.wal.inline_budget import InlineBudget, InlineLimits
from lakestream.storage.wal.mover import Mover
from lakestream.storage.wal.moving import Moving
from lakestream.storage.wal.segment import WAL_PREFIX, decode_footer
from lakestream.world.chance import SeededChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.faulty import Fault, FaultKind, FaultyObjects, ScriptedFaults
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks
from tests.unit.storage.batches import TOPIC, wal_batch
from tests.unit.storage.test_flusher import Quiet, World, run

CLOCK = SystemClock()


def mover_of(world: World, objects: ObjectStore | None = None, seed: int = 2) -> Mover:
    return Mover(
        store=world.store,
        objects=objects or world.objects,
        bytes_max=1 << 20,
        clock=CLOCK,
        ids=Ids(CLOCK, SeededChance(seed)),
        metrics=Quiet(),  # type: ignore[arg-type]
    )


async def moved(mover: Mover) -> None:
    await mover.move_until(await mover.store.now_ms())


def moving_of(world: World, budget: InlineBudget, limits: InlineLimits, mover: Mover) -> Moving:
    tasks = Tasks(on_failure=lambda *_: None)
    return Moving(
        store=world.store, mover=mover, budget=budget, limits=limits, holder="broker-1", clock=CLOCK, tasks=tasks
    )


async def written(world: World, partitions: Sequence[int]) -> list[bytes]:
    """One flush each. Returns their batches."""
    batches = [wal_batch(partition, 2, value=bytes([n]) * 10) for n, partition in enumerate(partitions)]
    for batch in batches:
        await world.wal.append(batch)
    return [bytes(batch.data) for batch in batches]


def test_many_flushes_become_one_object_by_partition_with_its_own_receipts() -> None:
    async def story(world: World) -> None:
        a, b, c, d = await written(world, [2, 1, 2, 1])
        await moved(mover_of(world))
        (key,) = [info.key async for info in world.objects.list(WAL_PREFIX)]
        content = bytes(await world.objects.get(key))
        footer = decode_footer(content)
        assert content[4 : 4 + len(a + b + c + d)] == b + d + a + c
        assert [(entry.topic_id, entry.partition, entry.records) for entry in footer.entries] == [
            (TOPIC, 0, 4),
            (TOPIC, 1, 4),
        ]
        assert [
            (each.segment, each.partition, each.at, each.base_offset, each.records) for each in footer.receipts
        ] == [
            (footer.segment, 0, 4, 0, 4),
            (footer.segment, 1, 4 + len(b + d), 0, 4),
        ]
        assert await world.offsets(1) == await world.offsets(2) == [(0, 3)], "small spans became one"
        assert (await world.store.inline.at_rest()).segments == 0

    run(story, inline=True)


def test_a_move_whose_put_fails_leaves_everything_as_it_was() -> None:
    async def story(world: World) -> None:
        await written(world, [1, 1])
        faulty = FaultyObjects(world.objects, clock=CLOCK, faults=ScriptedFaults("put", [Fault(FaultKind.REFUSED)]))
        with pytest.raises(StoreUnavailable):
            await moved(mover_of(world, faulty))
        assert (await world.store.inline.at_rest()).segments == 2
        await moved(mover_of(world, faulty))
        assert (await world.store.inline.at_rest()).segments == 0

    run(story, inline=True)


def test_movers_and_producers_at_once_lose_nothing() -> None:
    async def story(world: World) -> None:
        done = asyncio.Event()

        async def keep_moving(mover: Mover) -> None:
            while not done.is_set():
                await moved(mover)
                await asyncio.sleep(0)

        movers = [asyncio.create_task(keep_moving(mover_of(world, seed=seed))) for seed in (3, 4)]
        for _ in range(30):
            await asyncio.gather(*(world.wal.append(wal_batch(partition)) for partition in (1, 2, 3)))
        done.set()
        await asyncio.gather(*movers)
        await moved(mover_of(world))
        for view in await world.store.views([ViewAsk(partition, 0, 100) for partition in (1, 2, 3)]):
            assert view is not None
            assert view.tail.next_offset == 30
            assert [span.base_offset for span in view.spans] == [0, *(span.last_offset + 1 for span in view.spans[:-1])]
            assert not any(is_inline(span.segment) for span in view.spans)  # type: ignore[union-attr]

    run(story, inline=True)


def test_bytes_are_moved_when_they_are_old_enough_or_many_enough() -> None:
    async def story(world: World) -> None:
        async def left_by(limits: InlineLimits) -> int:
            budget = InlineBudget(limits, CLOCK)
            await moving_of(world, budget, limits, mover_of(world)).look()
            return (await world.store.inline.at_rest()).segments

        await written(world, [1])
        assert await left_by(InlineLimits(move_seconds=3600.0)) == 1
        assert await left_by(InlineLimits(move_seconds=3600.0, move_bytes=1)) == 0
        await written(world, [1])
        assert await left_by(InlineLimits(move_seconds=0.0)) == 0

    run(story, inline=True)


def test_another_brokers_bytes_count_against_the_budget() -> None:
    async def story(world: World) -> None:
        await written(world, [1])
        size = (await world.store.inline.at_rest()).bytes
        limits = InlineLimits(at_rest_bytes_max=size, move_seconds=3600.0)
        budget = InlineBudget(limits, CLOCK)
        assert budget.refusal(1) is None
        await moving_of(world, budget, limits, mover_of(world)).look()
        assert budget.refusal(1) == "at rest"

    run(story, inline=True)
