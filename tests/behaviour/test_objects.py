"""What every object store must do, asked of memory, files and S3 alike."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import obstore
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto.server import ThreadedMotoServer
from obstore.store import S3Store

from lakestream.model.errors import InvalidRequest, ObjectExists, ObjectMissing
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.threads import ThreadPool

BUCKET = "lakestream-test"
RACERS = 16

Ask = Callable[[ObjectStore], Awaitable[None]]
Run = Callable[[Ask], None]


@pytest.fixture(scope="module")
def s3_options() -> Iterator[dict[str, str]]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = {
        "endpoint": f"http://{host}:{port}",
        "region": "us-east-1",
        "access_key_id": "test",
        "secret_access_key": "test",
    }
    _make_bucket(options["endpoint"])
    yield options
    server.stop()


def _make_bucket(endpoint: str) -> None:
    """A PUT on the bucket's own path creates it; obstore has no verb for that."""
    httpx.put(f"{endpoint}/{BUCKET}").raise_for_status()


@pytest.fixture(params=["memory", "file", "s3"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Run a question against a fresh, empty store."""
    kind: str = request.param
    options = request.getfixturevalue("s3_options") if kind == "s3" else {}
    urls = iter(range(1_000_000))

    def fresh_url() -> str:
        number = next(urls)
        return {
            "memory": "memory://",
            "file": (tmp_path / str(number)).as_uri(),
            "s3": f"s3://{BUCKET}/{os.path.basename(tmp_path)}-{number}",
        }[kind]

    def run_one(ask: Ask) -> None:
        async def body() -> None:
            async with opened(fresh_url(), options) as store:
                await ask(store)

        asyncio.run(body())

    return run_one


@asynccontextmanager
async def opened(url: str, options: dict[str, str]) -> AsyncIterator[ObjectStore]:
    clock, threads = SystemClock(), ThreadPool(RACERS, "objects")
    try:
        ids = Ids(clock, SystemChance())
        store = await open_objects(url, clock=clock, ids=ids, threads=threads, options=options)
        yield store
        await store.close()
    finally:
        threads.close()


async def keys_below(store: ObjectStore, prefix: str) -> list[str]:
    return [info.key async for info in store.list(prefix)]


def test_an_object_comes_back_as_it_was_put(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        await store.put("wal/a", [b"one ", bytearray(b"two "), memoryview(b"three")])
        assert bytes(await store.get("wal/a")) == b"one two three"

    run(ask)


def test_an_empty_object_is_an_object(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        await store.put("wal/empty", [])
        assert bytes(await store.get("wal/empty")) == b""
        assert await keys_below(store, "wal/") == ["wal/empty"]

    run(ask)


def test_thousands_of_parts_are_joined_in_order(run: Run) -> None:
    parts = [number.to_bytes(2, "big") for number in range(5000)]

    async def ask(store: ObjectStore) -> None:
        await store.put("wal/many", parts)
        assert bytes(await store.get("wal/many")) == b"".join(parts)

    run(ask)


def test_an_object_larger_than_a_multipart_chunk_is_one_object(run: Run) -> None:
    part = os.urandom(1 << 20)

    async def ask(store: ObjectStore) -> None:
        await store.put("wal/big", [part] * 9)
        tail, size = await store.get_tail("wal/big", 10)
        assert (bytes(tail), size) == (part[-10:], 9 << 20)
        assert bytes(await store.get_range("wal/big", 8 << 20, 1 << 20)) == part

    run(ask)


@pytest.mark.parametrize(
    ("at", "length", "expected"), [(0, 3, b"abc"), (2, 3, b"cde"), (4, 100, b"ef"), (0, 6, b"abcdef"), (1, 0, b"")]
)
def test_a_range_is_what_lies_there(run: Run, at: int, length: int, expected: bytes) -> None:
    async def ask(store: ObjectStore) -> None:
        await store.put("wal/r", [b"abcdef"])
        assert bytes(await store.get_range("wal/r", at, length)) == expected

    run(ask)


def test_a_tail_longer_than_the_object_is_the_object(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        await store.put("wal/t", [b"abc"])
        tail, size = await store.get_tail("wal/t", 64)
        assert (bytes(tail), size) == (b"abc", 3)

    run(ask)


def test_a_taken_key_keeps_its_first_object(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        await store.put("wal/x", [b"first"])
        with pytest.raises(ObjectExists):
            await store.put("wal/x", [b"second"])
        assert bytes(await store.get("wal/x")) == b"first"

    run(ask)


def test_of_sixteen_racers_exactly_one_creates_the_object(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        async def race(number: int) -> int | None:
            try:
                await store.put("wal/raced", [bytes([number]) * 1000])
            except ObjectExists:
                return None
            return number

        winners = [number for number in await asyncio.gather(*map(race, range(RACERS))) if number is not None]
        assert len(winners) == 1
        assert bytes(await store.get("wal/raced")) == bytes(winners) * 1000

    run(ask)


def test_a_missing_object_is_said_to_be_missing(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        await store.put("wal/there", [b"x"])
        for asking in (store.get("wal/gone"), store.get_range("wal/gone", 0, 1), store.get_tail("wal/gone", 1)):
            with pytest.raises(ObjectMissing, match="wal/gone"):
                await asking

    run(ask)


def test_sizes_are_told_in_the_order_of_the_keys_and_missing_objects_have_none(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        await store.put("wal/a", [b"one"])
        await store.put("wal/empty", [])
        await store.put("wal/b/c", [b"three"])
        keys = ["wal/b/c", "wal/gone", "wal/empty", "wal/a", "wal/b", "wal/a/below"]
        assert list(await store.sizes(keys)) == [5, None, 0, 3, None, None]
        assert list(await store.sizes([])) == []

    run(ask)


def test_objects_in_unused_folders_stay_and_late_puts_there_succeed(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        for key in ("jobs/1/a", "jobs/1/deep/b", "jobs/2/c"):
            await store.put(key, [key.encode()])
        await store.delete(["jobs/1/deep/b", "jobs/2/c"], unused_folders=["jobs/1", "jobs/2", "jobs/3"])
        assert await keys_below(store, "") == ["jobs/1/a"]
        for key in ("jobs/2/c", "jobs/1/deep/b"):
            await store.put(key, [b"again"])
        assert await keys_below(store, "jobs/") == ["jobs/1/a", "jobs/1/deep/b", "jobs/2/c"]
        assert bytes(await store.get("jobs/2/c")) == b"again"

    run(ask)


def test_a_listing_is_in_key_order_and_by_string_prefix(run: Run) -> None:
    keys = ["a", "wal/b-c", "wal/b/1", "wal/b/2", "wal/b0", "wal/c", "walrus"]

    async def ask(store: ObjectStore) -> None:
        for key in reversed(keys):
            await store.put(key, [key.encode()])
        assert await keys_below(store, "") == keys
        assert await keys_below(store, "wal/") == keys[1:6]
        assert await keys_below(store, "wal/b") == keys[1:5]
        assert await keys_below(store, "wal/b/") == keys[2:4]
        assert await keys_below(store, "wa") == keys[1:]
        assert await keys_below(store, "nothing/") == []

    run(ask)


def test_a_listing_knows_size_and_time(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        before_ms = SystemClock().wall_ms()
        await store.put("wal/a", [b"12345"])
        [info] = [info async for info in store.list("wal/")]
        assert info.bytes == 5
        # S3 rounds to seconds.
        assert before_ms - 2000 <= info.modified_ms <= SystemClock().wall_ms() + 2000

    run(ask)


def test_deleting_takes_what_exists_and_minds_nothing_else(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        await store.put("wal/a", [b"1"])
        await store.put("wal/b", [b"2"])
        await store.delete(["wal/gone", "wal/a", "wal/also-gone"])
        await store.delete(["wal/a"])
        await store.delete([])
        assert await keys_below(store, "wal/") == ["wal/b"]

    run(ask)


def test_a_deleted_key_can_be_created_again(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        await store.put("wal/a", [b"1"])
        await store.delete(["wal/a"])
        await store.put("wal/a", [b"2"])
        assert bytes(await store.get("wal/a")) == b"2"

    run(ask)


@pytest.mark.parametrize("key", ["", "/etc/passwd", "../up", "a/../../up", "a//b", "a/", ".hidden", "a\0b", "ä"])
def test_a_key_that_could_leave_the_store_is_refused(run: Run, key: str) -> None:
    async def ask(store: ObjectStore) -> None:
        for asking in (store.put(key, [b""]), store.get(key), store.get_range(key, 0, 1), store.delete([key])):
            with pytest.raises(InvalidRequest):
                await asking

    run(ask)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.binary(max_size=200), max_size=8), at=st.integers(0, 300), length=st.integers(1, 300))
def test_any_range_of_any_parts_is_the_slice(run: Run, parts: list[bytes], at: int, length: int) -> None:
    whole = b"".join(parts)
    at = min(at, max(0, len(whole) - 1))

    async def ask(store: ObjectStore) -> None:
        await store.put("wal/p", parts)
        if whole:
            assert bytes(await store.get_range("wal/p", at, length)) == whole[at : at + length]
        tail, size = await store.get_tail("wal/p", length)
        assert (bytes(tail), size) == (whole[-length:], len(whole))

    run(ask)


def test_parts_may_change_once_the_put_has_returned(run: Run) -> None:
    async def ask(store: ObjectStore) -> None:
        part = bytearray(b"before")
        await store.put("wal/m", [part])
        part[:] = b"after!"
        assert bytes(await store.get("wal/m")) == b"before"

    run(ask)


def test_a_put_to_s3_is_one_object_under_the_prefix(s3_options: dict[str, str]) -> None:
    async def body() -> None:
        async with opened(f"s3://{BUCKET}/some/prefix", s3_options) as store:
            await store.put("wal/one", [b"x" * (6 << 20)])

    asyncio.run(body())
    raw = S3Store(BUCKET, config=s3_options, client_options={"allow_http": True})  # type: ignore[arg-type]
    assert obstore.head(raw, "some/prefix/wal/one")["size"] == 6 << 20
