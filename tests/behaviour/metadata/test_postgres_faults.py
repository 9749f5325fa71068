"""PostgreSQL goes away and comes back: verbs fail with advice, and the next ones work."""

import asyncio
import contextlib

import psycopg
import pytest

from lakestream.metadata.postgres.pool import CONNECTIONS_MAX
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import StoreUnavailable
from lakestream.model.place import Tail
from tests.behaviour.metadata.stage import Stage, batch, postgres_url, results_of
from tests.postgres_server import cut_connections

SECONDS_MAX = 10


async def until_one_waits(blocker: psycopg.AsyncConnection) -> None:
    """Until some verb of ours waits for a lock that `blocker` has."""
    async with asyncio.timeout(SECONDS_MAX):
        while True:
            waiting = await blocker.execute(
                "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
            )
            if await waiting.fetchone() is not None:
                return
            await asyncio.sleep(0.01)


@pytest.fixture
def postgres_stage(postgres: str) -> Stage:
    return Stage(postgres_url(postgres))


def test_connections_lost_while_idle_are_replaced_unnoticed(postgres_stage: Stage, postgres: str) -> None:
    stage = postgres_stage

    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        for number in range(5):
            await asyncio.gather(*(store.tails([partition]) for _ in range(CONNECTIONS_MAX)))
            assert cut_connections(postgres) > 1
            commit = stage.commit(lease, batch(partition))
            assert results_of(await store.commit_segment(commit))[0].base_offset == number

    stage.run(scenario)
    stage.close()


def test_a_connection_lost_under_a_verb_is_said_and_replaced(postgres_stage: Stage, postgres: str) -> None:
    stage = postgres_stage

    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        commit = stage.commit(lease, batch(partition))
        async with await psycopg.AsyncConnection.connect(postgres) as blocker:
            schema = stage.url.split("?schema=")[1]
            await blocker.execute(f"SELECT 1 FROM {schema}.partition FOR UPDATE".encode())
            waiting = asyncio.create_task(store.commit_segment(commit))
            await until_one_waits(blocker)
            assert await asyncio.to_thread(cut_connections, postgres) > 0
            with pytest.raises(StoreUnavailable, match="try again"):
                await waiting
        first = await store.commit_segment(commit)
        assert results_of(first)[0].base_offset == 0
        assert await store.commit_segment(commit) == first

    stage.run(scenario)
    stage.close()


def test_commits_through_cut_connections_happen_once(postgres_stage: Stage, postgres: str) -> None:
    """Connections are cut at random moments, in the middle of commits too; each is repeated until it has its fate."""
    stage = postgres_stage

    async def commit_at_last(store: MetadataStore, lease: object, partition: int) -> int:
        commit = stage.commit(lease, batch(partition, records=2))  # type: ignore[arg-type]
        for _ in range(50):
            with contextlib.suppress(StoreUnavailable):
                return results_of(await store.commit_segment(commit))[0].base_offset
        raise AssertionError("never committed")

    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        work = [asyncio.create_task(commit_at_last(store, lease, partition)) for _ in range(40)]
        for _ in range(8):
            await asyncio.sleep(0.01)
            await asyncio.to_thread(cut_connections, postgres)
        assert sorted(await asyncio.gather(*work)) == list(range(0, 80, 2))
        assert (await store.tails([partition]))[partition].tail == Tail(0, 80, 0)

    stage.run(scenario)
    stage.close()


def test_a_new_incarnation_waits_for_commits_under_way(postgres_stage: Stage, postgres: str) -> None:
    """Otherwise a commit that was let in before the fence could still land behind it."""
    stage = postgres_stage

    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        async with await psycopg.AsyncConnection.connect(postgres) as blocker:
            schema = stage.url.split("?schema=")[1]
            await blocker.execute(f"SELECT 1 FROM {schema}.partition FOR UPDATE".encode())
            commit = asyncio.create_task(store.commit_segment(stage.commit(lease, batch(partition))))
            await until_one_waits(blocker)
            successor = asyncio.create_task(stage.broker(store))
            await asyncio.sleep(0.2)
            assert not commit.done()
            assert not successor.done()
        assert results_of(await commit)[0].base_offset == 0
        assert (await successor).incarnation > lease.incarnation

    stage.run(scenario)
    stage.close()


def test_the_alarm_comes_back(postgres_stage: Stage, postgres: str) -> None:
    stage = postgres_stage

    async def scenario(store: MetadataStore) -> None:
        other = await stage.open()
        rung = asyncio.Event()
        store.on_change(rung.set)
        await asyncio.sleep(0.1)
        await asyncio.to_thread(cut_connections, postgres)
        await asyncio.sleep(0.3)
        rung.clear()
        with contextlib.suppress(StoreUnavailable):
            await stage.topic(other)
        await stage.topic(other)
        async with asyncio.timeout(SECONDS_MAX):
            await rung.wait()

    stage.run(scenario)
    stage.close()


def test_a_cancelled_verb_does_not_spoil_its_connection(postgres_stage: Stage) -> None:
    stage = postgres_stage

    async def scenario(store: MetadataStore) -> None:
        for _ in range(12):  # more than there are connections
            task = asyncio.create_task(stage.topic(store))
            await asyncio.sleep(0.001)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await asyncio.gather(*(stage.topic(store) for _ in range(10)))

    stage.run(scenario)
    stage.close()


def test_a_verb_that_the_server_undid_is_done_again_from_its_start(postgres_stage: Stage, postgres: str) -> None:
    stage = postgres_stage

    async def scenario(store: MetadataStore) -> None:
        await fail_first_inserts(postgres, stage.url.split("?schema=")[1], "partition", failures=2)
        topic = await stage.topic(store, partitions=3)
        view = await store.topics()
        assert [found.partitions for found in view.topics] == [topic.partitions]
        assert view.version == 1  # the attempts that were undone left nothing behind

    stage.run(scenario)
    stage.close()


async def fail_first_inserts(postgres: str, schema: str, table: str, *, failures: int) -> None:
    """The server undoes so many transactions that insert into the table, as if others had to pass."""
    async with await psycopg.AsyncConnection.connect(postgres, autocommit=True) as connection:
        await connection.execute(
            f"CREATE SEQUENCE {schema}.inserts;"
            f"CREATE FUNCTION {schema}.undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF nextval('{schema}.inserts') <= {failures} THEN"
            " RAISE EXCEPTION 'undone' USING ERRCODE = 'serialization_failure'; END IF; RETURN NULL; END $$;"
            f"CREATE TRIGGER undo BEFORE INSERT ON {schema}.{table} EXECUTE FUNCTION {schema}.undo()".encode()
        )
