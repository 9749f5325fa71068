"""Repairs in SQLite."""

import sqlite3
from collections.abc import Callable

from lakestream.metadata.repair_store import ASKED_MAX, KEPT_MS
from lakestream.metadata.sqlite.tables import Run
from lakestream.model.repair import Repair, RepairId, RepairState, TooManyRepairs

_COLUMNS = "id, topic_id, request, state, answer"


class SqliteRepairs:
    """The RepairStore of a SqliteStore, which lends it its writer and its reader."""

    def __init__(self, *, write: Run, read: Run, now_ms: Callable[[], int]) -> None:
        self._write = write
        self._read = read
        self._now = now_ms

    async def ask(self, repair: Repair) -> None:
        await self._write(lambda c: _ask(c, repair, self._now()))

    async def asked(self) -> list[Repair]:
        return await self._read(_asked)

    async def answer(self, id: RepairId, state: RepairState, answer: str) -> None:
        await self._write(
            lambda c: c.execute(
                "UPDATE repair SET state = ?, answer = ? WHERE id = ? AND state = ?",
                (state, answer, id, RepairState.ASKED),
            )
        )

    async def look(self, id: RepairId) -> Repair | None:
        return await self._read(lambda c: _look(c, id))


def _ask(connection: sqlite3.Connection, repair: Repair, now_ms: int) -> None:
    connection.execute("DELETE FROM repair WHERE state <> ? AND asked_ms < ?", (RepairState.ASKED, now_ms - KEPT_MS))
    (waiting,) = connection.execute("SELECT count(*) FROM repair WHERE state = ?", (RepairState.ASKED,)).fetchone()
    if waiting >= ASKED_MAX:
        raise TooManyRepairs(f"{waiting} repairs are waiting: is a pipeline running?")
    connection.execute(
        "INSERT INTO repair VALUES (?, ?, ?, ?, ?, ?)",
        (repair.id, repair.topic, repair.request, repair.state, repair.answer, now_ms),
    )


def _asked(connection: sqlite3.Connection) -> list[Repair]:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM repair WHERE state = ? ORDER BY id", (RepairState.ASKED,))
    return [_repair(*row) for row in rows]


def _look(connection: sqlite3.Connection, id: RepairId) -> Repair | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM repair WHERE id = ?", (id,)).fetchone()
    return None if row is None else _repair(*row)


def _repair(id: str, topic: bytes, request: str, state: int, answer: str | None) -> Repair:
    return Repair(id=id, topic=topic, request=request, state=RepairState(state), answer=answer)
