"""Commit offsets of many groups at once: one statement checks who owns each group, one stores the permitted offsets.

    asks -> epoch and generation of their groups -> those that may -> rows, in the order of the asks

A statement stores a fixed number of rows, so that few statements are ever prepared. The last row fills up the
remainder, since storing it twice changes nothing. An existing offset is updated in place. Replacing it would also
remove it from the index by topic and add it again, and a commit would write two pages.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from lakestream.metadata.rules.grouping import moved_on, overtaken
from lakestream.model.errors import LakestreamError
from lakestream.model.group import NO_GENERATION, CommittedOffset, TopicPartition

ROWS_MAX = 256
"""Rows of one statement: 2,048 parameters; SQLite allows 32,766. The powers of two up to it are nine statements."""

_ROW = "(?, ?, ?, ?, ?, ?, ?, ?)"

Row = tuple[str, bytes, int, int, int, bytes, int, int | None]


class OffsetsAsk(NamedTuple):
    group: str
    epoch: int
    generation: int
    offsets: Mapping[TopicPartition, CommittedOffset]
    retention_ms: int | None


def commit_all(
    connection: sqlite3.Connection, asks: Sequence[OffsetsAsk], now_ms: int
) -> Sequence[LakestreamError | None]:
    """The error of each request; None: it was stored."""
    owned = _owned(connection, [ask.group for ask in asks])
    problems = [_problem(ask, owned.get(which)) for which, ask in enumerate(asks)]
    rows = [row for ask, problem in zip(asks, problems, strict=True) if problem is None for row in _rows(ask, now_ms)]
    for at in range(0, len(rows), ROWS_MAX):
        _store(connection, rows[at : at + ROWS_MAX])
    return problems


def _owned(connection: sqlite3.Connection, groups: list[str]) -> dict[int, tuple[int, int]]:
    """Epoch and generation, by position in `groups`. All in one row: SQLite releases the GIL between rows."""
    if len(groups) == 1:
        only = connection.execute("SELECT epoch, generation FROM consumer_group WHERE name = ?", groups).fetchone()
        return {} if only is None else {0: only}
    (found,) = connection.execute(
        "SELECT json_group_array(json_array(key, epoch, generation)) FROM json_each(?) CROSS JOIN consumer_group"
        " ON name = value",
        (json.dumps(groups),),
    ).fetchone()
    return {which: (epoch, generation) for which, epoch, generation in json.loads(found)}


def _problem(ask: OffsetsAsk, owned: tuple[int, int] | None) -> LakestreamError | None:
    if owned is None or owned[0] != ask.epoch:
        return overtaken(ask.group, ask.epoch)
    if ask.generation != NO_GENERATION and owned[1] > ask.generation:
        return moved_on(ask.group, ask.generation)
    return None


def _rows(ask: OffsetsAsk, now_ms: int) -> list[Row]:
    return [
        (ask.group, topic, number, offset, leader_epoch, metadata.encode(), now_ms, ask.retention_ms)
        for (topic, number), (offset, leader_epoch, metadata) in ask.offsets.items()
    ]


def _store(connection: sqlite3.Connection, rows: list[Row]) -> None:
    size = 1 << (len(rows) - 1).bit_length()
    filled = rows + rows[-1:] * (size - len(rows))
    connection.execute(_statement(size), [value for row in filled for value in row])


@cache
def _statement(rows: int) -> str:
    return (
        f"INSERT INTO group_offset VALUES {', '.join([_ROW] * rows)}"
        " ON CONFLICT DO UPDATE SET next_offset = excluded.next_offset, leader_epoch = excluded.leader_epoch,"
        " metadata = excluded.metadata, committed_ms = excluded.committed_ms, retention_ms = excluded.retention_ms"
    )
