"""Namespaces, tables and receipts in SQLite."""

import json
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from lakestream.metadata.rules.missing import (
    namespace_exists,
    namespace_not_empty,
    properties_changed,
    table_exists,
    table_moved,
    unknown_namespace,
    unknown_table_id,
    unknown_topic_id,
)
from lakestream.metadata.table_store import NOWHERE, RECEIPT_KEPT_MS, TableName, is_listed, joined, split
from lakestream.model.table import Namespace, PointerMove, Receipt, TableId, TableKind, TablePointer
from lakestream.model.table_errors import AnsweredBefore
from lakestream.model.topic import TopicId

T = TypeVar("T")

_POINTER = (
    "SELECT lake_table.id, namespace, lake_table.name, kind, metadata_location, topic_id, topic.config"
    " FROM lake_table LEFT JOIN topic ON topic.id = topic_id WHERE "
)


class Run(Protocol):
    def __call__(self, verb: Callable[[sqlite3.Connection], T], /) -> Awaitable[T]: ...


class SqliteTables:
    """The TableStore of a SqliteStore, which lends it its writer and its reader."""

    def __init__(self, *, write: Run, read: Run, now_ms: Callable[[], int]) -> None:
        self._run = write
        self._read = read
        self._now = now_ms

    async def _write(self, verb: Callable[[sqlite3.Connection], T], receipt: Receipt | None) -> T:
        def with_receipt(connection: sqlite3.Connection) -> T:
            if receipt is not None:
                _keep_receipt(connection, receipt, self._now())
            return verb(connection)

        return await self._run(with_receipt)

    # --- namespaces ----------------------------------------------------------------------------

    async def create_namespace(
        self, namespace: Namespace, properties: Mapping[str, str], *, receipt: Receipt | None = None
    ) -> None:
        await self._write(lambda c: _create_namespace(c, namespace, properties, self._now()), receipt)

    async def namespaces(self, parent: Namespace) -> list[Namespace]:
        return await self._read(lambda c: _namespaces(c, parent))

    async def namespace_properties(self, namespace: Namespace) -> dict[str, str]:
        return await self._read(lambda c: _properties(c, namespace))

    async def replace_namespace_properties(
        self,
        namespace: Namespace,
        *,
        expected: Mapping[str, str],
        properties: Mapping[str, str],
        receipt: Receipt | None = None,
    ) -> None:
        await self._write(lambda c: _replace_properties(c, namespace, expected, properties), receipt)

    async def drop_namespace(self, namespace: Namespace, *, receipt: Receipt | None = None) -> None:
        await self._write(lambda c: _drop_namespace(c, namespace), receipt)

    # --- tables and views ----------------------------------------------------------------------

    async def tables(self, namespace: Namespace) -> list[TableName]:
        return await self._read(lambda c: _tables(c, namespace))

    async def table(self, namespace: Namespace, name: str) -> TablePointer | None:
        return await self._read(lambda c: _pointer(c, "namespace = ? AND lake_table.name = ?", joined(namespace), name))

    async def table_of_topic(self, topic: TopicId) -> TablePointer | None:
        return await self._read(lambda c: _pointer(c, "topic_id = ?", topic))

    async def table_with_id(self, table: TableId) -> TablePointer | None:
        return await self._read(lambda c: _pointer(c, "lake_table.id = ?", table))

    async def table_ids(self, kinds: Collection[TableKind]) -> list[TableId]:
        return await self._read(lambda c: _table_ids(c, kinds))

    async def move_tables(self, moves: Sequence[PointerMove], *, receipt: Receipt | None = None) -> None:
        await self._write(lambda c: _move_tables(c, moves, self._now()), receipt)

    async def replace_table(self, old: TablePointer, pointer: TablePointer, *, receipt: Receipt | None = None) -> None:
        await self._write(lambda c: _replace_table(c, old, pointer, self._now()), receipt)

    async def rename_table(
        self, table: TableId, namespace: Namespace, name: str, *, receipt: Receipt | None = None
    ) -> None:
        await self._write(lambda c: _rename_table(c, table, namespace, name, self._now()), receipt)

    async def drop_table(self, table: TableId, *, receipt: Receipt | None = None) -> None:
        await self._write(lambda c: _drop_table(c, table), receipt)

    async def dropped_tables(self, age_ms: int, limit: int) -> list[TableId]:
        return await self._read(lambda c: _dropped_tables(c, age_ms, limit, self._now()))

    async def make_ordinary(self, table: TableId, age_ms: int) -> bool:
        return await self._run(lambda c: _make_ordinary(c, table, age_ms, self._now()))

    async def receipt(self, key: str) -> Receipt | None:
        return await self._read(lambda c: _receipt(c, key))


def _create_namespace(
    connection: sqlite3.Connection, namespace: Namespace, properties: Mapping[str, str], now_ms: int
) -> None:
    if len(namespace) > 1:
        _require_namespace(connection, namespace[:-1])
    inserted = connection.execute(
        "INSERT OR IGNORE INTO namespace VALUES (?, ?, ?, ?)",
        (joined(namespace), joined(namespace[:-1]), json.dumps(dict(properties)), now_ms),
    )
    if inserted.rowcount == 0:
        raise namespace_exists(namespace)


def _namespaces(connection: sqlite3.Connection, parent: Namespace) -> list[Namespace]:
    if parent:
        _require_namespace(connection, parent)
    rows = connection.execute("SELECT name FROM namespace WHERE parent = ? ORDER BY name", (joined(parent),))
    return [split(row[0]) for row in rows]


def _properties(connection: sqlite3.Connection, namespace: Namespace) -> dict[str, str]:
    row = connection.execute("SELECT properties FROM namespace WHERE name = ?", (joined(namespace),)).fetchone()
    if row is None:
        raise unknown_namespace(namespace)
    properties: dict[str, str] = json.loads(row[0])
    return properties


def _replace_properties(
    connection: sqlite3.Connection, namespace: Namespace, expected: Mapping[str, str], properties: Mapping[str, str]
) -> None:
    if _properties(connection, namespace) != dict(expected):
        raise properties_changed(namespace)
    connection.execute(
        "UPDATE namespace SET properties = ? WHERE name = ?", (json.dumps(dict(properties)), joined(namespace))
    )


def _drop_namespace(connection: sqlite3.Connection, namespace: Namespace) -> None:
    name = joined(namespace)
    (used,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM lake_table WHERE namespace = ?1)"
        " OR EXISTS (SELECT 1 FROM namespace WHERE parent = ?1)",
        (name,),
    ).fetchone()
    if used:
        raise namespace_not_empty(namespace)
    if connection.execute("DELETE FROM namespace WHERE name = ?", (name,)).rowcount == 0:
        raise unknown_namespace(namespace)


def _tables(connection: sqlite3.Connection, namespace: Namespace) -> list[TableName]:
    _require_namespace(connection, namespace)
    rows = connection.execute(
        "SELECT lake_table.name, kind, topic.config FROM lake_table LEFT JOIN topic ON topic.id = topic_id"
        " WHERE namespace = ? ORDER BY lake_table.name",
        (joined(namespace),),
    )
    return [TableName(name, TableKind(kind), is_listed(config)) for name, kind, config in rows]


def _pointer(connection: sqlite3.Connection, where: str, *parameters: object) -> TablePointer | None:
    row = connection.execute(_POINTER + where, parameters).fetchone()
    return None if row is None else pointer_of(row)


def _table_ids(connection: sqlite3.Connection, kinds: Collection[TableKind]) -> list[TableId]:
    wanted = json.dumps([kind.value for kind in kinds])
    rows = connection.execute(
        "SELECT id FROM lake_table WHERE kind IN (SELECT value FROM json_each(?)) ORDER BY id", (wanted,)
    )
    return [row[0] for row in rows]


def pointer_of(row: tuple[Any, ...]) -> TablePointer:
    id, namespace, name, kind, location, topic, config = row
    return TablePointer(
        id=id,
        namespace=split(namespace),
        name=name,
        kind=TableKind(kind),
        metadata_location=location,
        topic=topic,
        listed=is_listed(config),
    )


def _move_tables(connection: sqlite3.Connection, moves: Sequence[PointerMove], now_ms: int) -> None:
    for move in moves:
        if move.expected_location is None:
            _insert(connection, move.pointer, now_ms)
        else:
            _move(connection, move.pointer, move.expected_location, now_ms)


def _insert(connection: sqlite3.Connection, pointer: TablePointer, now_ms: int) -> None:
    _require_namespace(connection, pointer.namespace)
    if pointer.topic is not None:
        _require_topic(connection, pointer.topic)
    inserted = connection.execute(
        "INSERT OR IGNORE INTO lake_table VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            pointer.id,
            joined(pointer.namespace),
            pointer.name,
            pointer.kind.value,
            pointer.metadata_location,
            pointer.topic,
            now_ms,
        ),
    )
    if inserted.rowcount == 0:
        raise table_exists(pointer.namespace, pointer.name)


def _move(connection: sqlite3.Connection, pointer: TablePointer, expected: str, now_ms: int) -> None:
    moved = connection.execute(
        "UPDATE lake_table SET metadata_location = ?, changed_ms = ? WHERE id = ? AND metadata_location = ?",
        (pointer.metadata_location, now_ms, pointer.id, expected),
    )
    if moved.rowcount == 0:
        raise table_moved(pointer)


def _replace_table(connection: sqlite3.Connection, old: TablePointer, pointer: TablePointer, now_ms: int) -> None:
    gone = connection.execute(
        "DELETE FROM lake_table WHERE id = ? AND metadata_location = ?", (old.id, old.metadata_location)
    )
    if gone.rowcount == 0:
        raise table_moved(old)
    _insert(connection, pointer, now_ms)


def _rename_table(connection: sqlite3.Connection, table: TableId, namespace: Namespace, name: str, now_ms: int) -> None:
    _require_namespace(connection, namespace)
    if _pointer(connection, "namespace = ? AND lake_table.name = ?", joined(namespace), name) is not None:
        raise table_exists(namespace, name)
    renamed = connection.execute(
        "UPDATE lake_table SET namespace = ?, name = ?, changed_ms = ? WHERE id = ?",
        (joined(namespace), name, now_ms, table),
    )
    if renamed.rowcount == 0:
        raise unknown_table_id(table)


def _drop_table(connection: sqlite3.Connection, table: TableId) -> None:
    if connection.execute("DELETE FROM lake_table WHERE id = ?", (table,)).rowcount == 0:
        raise unknown_table_id(table)


def _dropped_tables(connection: sqlite3.Connection, age_ms: int, limit: int, now_ms: int) -> list[TableId]:
    rows = connection.execute(
        "SELECT id FROM lake_table WHERE namespace = ? AND kind = ? AND changed_ms <= ? ORDER BY changed_ms LIMIT ?",
        (NOWHERE, TableKind.DROPPED.value, now_ms - age_ms, limit),
    )
    return [row[0] for row in rows]


def _make_ordinary(connection: sqlite3.Connection, table: TableId, age_ms: int, now_ms: int) -> bool:
    made = connection.execute(
        "UPDATE lake_table SET kind = ? WHERE id = ? AND kind = ? AND changed_ms <= ?",
        (TableKind.ORDINARY.value, table, TableKind.KEPT.value, now_ms - age_ms),
    )
    return made.rowcount > 0


def _require_namespace(connection: sqlite3.Connection, namespace: Namespace) -> None:
    if connection.execute("SELECT 1 FROM namespace WHERE name = ?", (joined(namespace),)).fetchone() is None:
        raise unknown_namespace(namespace)


def _require_topic(connection: sqlite3.Connection, topic: TopicId) -> None:
    if connection.execute("SELECT 1 FROM topic WHERE id = ?", (topic,)).fetchone() is None:
        raise unknown_topic_id(topic)


def _receipt(connection: sqlite3.Connection, key: str) -> Receipt | None:
    row = connection.execute("SELECT request, answer FROM receipt WHERE key = ?", (key,)).fetchone()
    return None if row is None else Receipt(key=key, request=row[0], answer=row[1])


def _keep_receipt(connection: sqlite3.Connection, receipt: Receipt, now_ms: int) -> None:
    connection.execute("DELETE FROM receipt WHERE created_ms < ?", (now_ms - RECEIPT_KEPT_MS,))
    if (known := _receipt(connection, receipt.key)) is not None:
        raise AnsweredBefore(known)
    connection.execute(
        "INSERT INTO receipt VALUES (?, ?, ?, ?)", (receipt.key, receipt.request, receipt.answer, now_ms)
    )
