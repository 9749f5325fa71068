"""Group commit: what waits together is made durable together, and fails alone."""

import asyncio
import gc
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lakestream.metadata.sqlite import writer as writer_module
from lakestream.metadata.sqlite.connection import connect
from lakestream.metadata.sqlite.lane import Lane
from lakestream.metadata.sqlite.turn import AlwaysOurTurn, FileTurn, WriterTurn
from lakestream.metadata.sqlite.writer import SqliteWriter
from lakestream.model.errors import LakestreamError, Overloaded, StorageFull, StoreUnavailable, TopicExists
from lakestream.world.clock import SystemClock
from lakestream.world.threads import InlineThreads, ThreadPool


class Seen(list[str]):
    """The statements a connection ran."""

    def commits(self) -> int:
        return self.count("COMMIT")


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "numbers.db")


@pytest.fixture
def connection(file: str) -> Iterator[sqlite3.Connection]:
    connection = connect(file)
    connection.execute("CREATE TABLE number (value INTEGER PRIMARY KEY, padding BLOB)")
    yield connection
    connection.close()


def writer_of(
    connection: sqlite3.Connection, file: str, turn: WriterTurn | None = None, **changes: object
) -> SqliteWriter:
    lane = Lane(connection, database=file, threads=InlineThreads())
    facts = {"turn": turn or AlwaysOurTurn(), "clock": SystemClock(), "on_commit": lambda: None}
    return SqliteWriter(lane, **(facts | changes))  # type: ignore[arg-type]


def insert(value: int, padding: int = 0) -> writer_module.Verb[int]:
    def verb(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO number VALUES (?, zeroblob(?))", (value, padding))
        return value

    return verb


def insert_and_fail(value: int) -> writer_module.Verb[int]:
    def verb(connection: sqlite3.Connection) -> int:
        insert(value)(connection)
        raise TopicExists("no")

    return verb


def values(file: str) -> list[int]:
    with connect(file) as other:
        return [row[0] for row in other.execute("SELECT value FROM number ORDER BY value")]


def test_verbs_that_wait_together_share_a_commit(connection: sqlite3.Connection, file: str) -> None:
    seen = Seen()
    connection.set_trace_callback(seen.append)

    async def scenario() -> None:
        writer = writer_of(connection, file)
        assert await asyncio.gather(*(writer.run(insert(value)) for value in range(10))) == list(range(10))

    asyncio.run(scenario())
    assert values(file) == list(range(10))
    assert seen.commits() == 1


def test_one_group_is_bounded(connection: sqlite3.Connection, file: str) -> None:
    seen = Seen()
    connection.set_trace_callback(seen.append)

    async def scenario() -> None:
        writer = writer_of(connection, file)
        await asyncio.gather(*(writer.run(insert(value)) for value in range(writer_module.GROUP_VERBS_MAX + 1)))

    asyncio.run(scenario())
    assert seen.commits() == 2


def test_the_log_is_folded_into_the_file_after_an_answer_and_not_within_a_commit(
    connection: sqlite3.Connection, file: str
) -> None:
    seen = Seen()
    connection.set_trace_callback(seen.append)
    folded_at_answer = []

    async def scenario() -> None:
        writer = writer_of(connection, file)
        for value in range(writer_module.GROUPS_BEFORE_FOLDING):
            await writer.run(insert(value))
            folded_at_answer.append(any("wal_checkpoint" in each for each in seen))
        await writer.close()

    asyncio.run(scenario())
    assert not any(folded_at_answer[:-1])
    assert sum("wal_checkpoint" in each for each in seen) == 1
    assert seen.index("COMMIT") < next(at for at, each in enumerate(seen) if "wal_checkpoint" in each)
    _, in_log, in_file = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    assert in_log == in_file


def test_a_failing_verb_undoes_only_itself(connection: sqlite3.Connection, file: str) -> None:
    async def scenario() -> None:
        writer = writer_of(connection, file)
        verbs = [insert(1), insert_and_fail(2), insert(3), insert(3), insert(4)]
        done = await asyncio.gather(*map(writer.run, verbs), return_exceptions=True)
        assert (done[0], done[2], done[4]) == (1, 3, 4)
        assert isinstance(done[1], TopicExists)
        assert isinstance(done[3], StoreUnavailable)

    asyncio.run(scenario())
    assert values(file) == [1, 3, 4]


def test_a_verb_that_fails_alone_leaves_nothing(connection: sqlite3.Connection, file: str) -> None:
    async def scenario() -> None:
        writer = writer_of(connection, file)
        with pytest.raises(TopicExists):
            await writer.run(insert_and_fail(1))
        await writer.run(insert(2))

    asyncio.run(scenario())
    assert values(file) == [2]


class Together:
    """A verb for many that remembers with how many it was called; odd numbers are refused."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []

    def __call__(self, connection: sqlite3.Connection, asks: Sequence[int]) -> list[LakestreamError | None]:
        self.calls.append(list(asks))
        connection.executemany("INSERT INTO number VALUES (?, NULL)", [(ask,) for ask in asks if ask % 2 == 0])
        return [TopicExists("odd") if ask % 2 else None for ask in asks]


def test_asks_of_one_kind_that_wait_together_are_one_verb_and_are_answered_one_by_one(
    connection: sqlite3.Connection, file: str
) -> None:
    async def scenario() -> None:
        writer, together, other = writer_of(connection, file), Together(), Together()
        asked = [writer.run_together(other if ask == 4 else together, ask) for ask in range(6)]
        alone = asyncio.ensure_future(writer.run(insert(100)))
        done = await asyncio.gather(*asked, alone, return_exceptions=True)
        assert [type(one) for one in done] == [type(None), TopicExists] * 3 + [int]
        assert (together.calls, other.calls) == ([[0, 1, 2, 3, 5]], [[4]])

    asyncio.run(scenario())
    assert values(file) == [0, 2, 4, 100]


def test_what_was_answered_is_gone_without_the_garbage_collector(connection: sqlite3.Connection, file: str) -> None:
    class Ask: ...

    async def scenario() -> None:
        writer = writer_of(connection, file)

        def together(connection: sqlite3.Connection, asks: Sequence[Ask]) -> list[LakestreamError | None]:
            return [None] * len(asks)

        asked = [Ask() for _ in range(3)]
        left = [weakref.ref(one) for one in asked]
        await asyncio.gather(*(writer.run_together(together, asked.pop()) for _ in range(3)))
        await writer.run(insert(1))  # the rounds hold the last group until they have another
        assert [one() for one in left] == [None] * 3

    gc.disable()
    try:
        asyncio.run(scenario())
    finally:
        gc.enable()


def test_a_verb_for_many_that_fails_fails_for_all_of_them_and_nobody_else(
    connection: sqlite3.Connection, file: str
) -> None:
    async def scenario() -> None:
        writer, together = writer_of(connection, file), Together()
        asked = [writer.run_together(together, ask) for ask in (2, 4, 4)]  # one twice: a number is there once
        alone = asyncio.ensure_future(writer.run(insert(100)))
        done = await asyncio.gather(*asked, alone, return_exceptions=True)
        assert [type(one) for one in done] == [StoreUnavailable] * 3 + [int]

    asyncio.run(scenario())
    assert values(file) == [100]


def test_nobody_joins_a_verb_that_has_begun(connection: sqlite3.Connection, file: str) -> None:
    async def scenario() -> None:
        lane = Lane(connection, database=file, threads=ThreadPool(1, "test"))
        writer = SqliteWriter(lane, turn=AlwaysOurTurn(), clock=SystemClock(), on_commit=lambda: None)
        together, begun, may_go_on = Together(), threading.Event(), threading.Event()

        def slow(connection: sqlite3.Connection) -> None:
            begun.set()
            may_go_on.wait()

        first = asyncio.ensure_future(writer.run(slow)), writer.run_together(together, 2)
        while not begun.is_set():
            await asyncio.sleep(0.001)
        later = writer.run_together(together, 4)
        may_go_on.set()
        await asyncio.gather(*first, later)
        assert together.calls == [[2], [4]]
        await writer.close()
        await lane.close()

    asyncio.run(scenario())
    assert values(file) == [2, 4]


def test_a_verb_for_many_is_bounded(connection: sqlite3.Connection, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "TOGETHER_MAX", 2)

    async def scenario() -> None:
        writer, together = writer_of(connection, file), Together()
        await asyncio.gather(*(writer.run_together(together, ask) for ask in (0, 2, 4, 6, 8)))
        assert together.calls == [[0, 2], [4, 6], [8]]

    asyncio.run(scenario())


def test_only_what_someone_waits_to_see_rings(connection: sqlite3.Connection, file: str) -> None:
    async def scenario() -> None:
        rung: list[int] = []
        writer = writer_of(connection, file, on_commit=lambda: rung.append(1))
        await writer.run_quietly(insert(1))
        await writer.run_together(Together(), 2)
        assert rung == []
        await asyncio.gather(writer.run_quietly(insert(3)), writer.run(insert(4)))
        assert rung == [1]

    asyncio.run(scenario())


def test_nothing_is_answered_before_it_is_durable(connection: sqlite3.Connection, file: str) -> None:
    async def scenario() -> None:
        writer = writer_of(connection, file)
        for value in range(5):
            await writer.run(insert(value))
            assert value in values(file)

    asyncio.run(scenario())


def test_a_caller_that_stops_waiting_harms_no_one(connection: sqlite3.Connection, file: str) -> None:
    async def scenario() -> None:
        lane = Lane(connection, database=file, threads=ThreadPool(1, "test"))
        writer = SqliteWriter(lane, turn=AlwaysOurTurn(), clock=SystemClock(), on_commit=lambda: None)
        tasks = [asyncio.create_task(writer.run(insert(value))) for value in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(done[0], asyncio.CancelledError)
        assert done[1:] == [1, 2]
        await writer.close()
        await lane.close()

    asyncio.run(scenario())


def test_a_full_disk_is_said_and_survived(connection: sqlite3.Connection, file: str) -> None:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()

    async def scenario() -> None:
        writer = writer_of(connection, file)
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StorageFull, match="free some space"):
            await writer.run(insert(1, padding=100_000))
        await writer.run(insert(2))
        connection.execute("PRAGMA max_page_count = 100000")
        await writer.run(insert(3, padding=100_000))

    asyncio.run(scenario())
    assert values(file) == [2, 3]


def test_a_file_locked_by_a_stranger_is_said_and_survived(connection: sqlite3.Connection, file: str) -> None:
    connection.execute("PRAGMA busy_timeout = 20")
    stranger = connect(file)

    async def scenario() -> None:
        writer = writer_of(connection, file)
        stranger.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            await writer.run(insert(1))
        stranger.execute("ROLLBACK")
        await writer.run(insert(2))

    asyncio.run(scenario())
    stranger.close()
    assert values(file) == [2]


class HurriedClock(SystemClock):
    """Sleeping takes no time, and passes it."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def test_waiting_for_the_turn_has_an_end(connection: sqlite3.Connection, file: str) -> None:
    ours, other = FileTurn(f"{file}-turn"), FileTurn(f"{file}-turn")
    assert other.take()

    async def scenario() -> None:
        writer = writer_of(connection, file, turn=ours, clock=HurriedClock())
        with pytest.raises(StoreUnavailable, match="-turn"):
            await writer.run(insert(1))
        other.give_back()
        await writer.run(insert(2))

    asyncio.run(scenario())
    ours.close()
    other.close()
    assert values(file) == [2]


def test_too_many_waiting_are_told_so(
    connection: sqlite3.Connection, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "WAITING_VERBS_MAX", 3)

    async def scenario() -> None:
        writer = writer_of(connection, file)
        done = await asyncio.gather(*(writer.run(insert(value)) for value in range(5)), return_exceptions=True)
        assert done[:3] == [0, 1, 2]
        assert isinstance(done[3], Overloaded)
        assert isinstance(done[4], Overloaded)
        together = Together()
        waiting = [writer.run_together(together, ask) for ask in (10, 12, 14)]
        with pytest.raises(Overloaded):
            writer.run_together(together, 16)
        await asyncio.gather(*waiting)
        await writer.run_together(together, 16)

    asyncio.run(scenario())


def test_closing_finishes_what_waits(connection: sqlite3.Connection, file: str) -> None:
    async def scenario() -> None:
        writer = writer_of(connection, file)
        waiting = [asyncio.create_task(writer.run(insert(value))) for value in range(3)]
        await asyncio.sleep(0)
        await writer.close()
        assert await asyncio.gather(*waiting) == [0, 1, 2]
        with pytest.raises(StoreUnavailable, match="closed"):
            await writer.run(insert(9))

    asyncio.run(scenario())
