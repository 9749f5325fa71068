"""Repairs in PostgreSQL."""

from typing import LiteralString

from lakestream.metadata.postgres.asking import all_rows, maybe_row
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.postgres.tables import Run
from lakestream.metadata.repair_store import ASKED_MAX, KEPT_MS
from lakestream.model.repair import Repair, RepairId, RepairState, TooManyRepairs

_COLUMNS: LiteralString = "id, topic_id, request, state, answer"


class PostgresRepairs:
    """The RepairStore of a PostgresStore, which lends it its connections."""

    def __init__(self, *, write: Run, read: Run) -> None:
        self._write = write
        self._read = read

    async def ask(self, repair: Repair) -> None:
        await self._write(lambda c: _ask(c, repair))

    async def asked(self) -> list[Repair]:
        return await self._read(_asked)

    async def answer(self, id: RepairId, state: RepairState, answer: str) -> None:
        await self._write(
            lambda c: c.execute(
                "UPDATE repair SET state = %s, answer = %s WHERE id = %s AND state = %s",
                (state, answer, id, RepairState.ASKED),
            )
        )

    async def look(self, id: RepairId) -> Repair | None:
        return await self._read(lambda c: _look(c, id))


async def _ask(connection: Connection, repair: Repair) -> None:
    async with connection.transaction():
        await connection.execute(
            "DELETE FROM repair WHERE state <> %s AND asked_ms < now_ms() - %s", (RepairState.ASKED, KEPT_MS)
        )
        row = await maybe_row(connection, "SELECT count(*) FROM repair WHERE state = %s", (RepairState.ASKED,))
        if row is not None and row[0] >= ASKED_MAX:
            raise TooManyRepairs(f"{row[0]} repairs are waiting: is a pipeline running?")
        await connection.execute(
            "INSERT INTO repair VALUES (%s, %s, %s, %s, %s, now_ms())",
            (repair.id, repair.topic, repair.request, repair.state, repair.answer),
        )


async def _asked(connection: Connection) -> list[Repair]:
    rows = await all_rows(
        connection, f'SELECT {_COLUMNS} FROM repair WHERE state = %s ORDER BY id COLLATE "C"', (RepairState.ASKED,)
    )
    return [_repair(*row) for row in rows]


async def _look(connection: Connection, id: RepairId) -> Repair | None:
    row = await maybe_row(connection, f"SELECT {_COLUMNS} FROM repair WHERE id = %s", (id,))
    return None if row is None else _repair(*row)


def _repair(id: str, topic: bytes, request: str, state: int, answer: str | None) -> Repair:
    return Repair(id=id, topic=topic, request=request, state=RepairState(state), answer=answer)
