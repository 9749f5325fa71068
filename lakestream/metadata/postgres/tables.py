"""Namespaces, tables and receipts in PostgreSQL.

A namespace's row is locked, shared, while a table or namespace is put into it, so that it is not dropped meanwhile.
Tables are locked by id.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, LiteralString, Protocol, TypeVar

from psycopg.errors import UniqueViolation

from lakestream.metadata.postgres.asking import all_rows, maybe_row, one_row
from lakestream.metadata.postgres.pool import Connection
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

_POINTER: LiteralString = (
    "SELECT lake_table.id, namespace, lake_table.name, kind, metadata_location, topic_id, topic.config"
    " FROM lake_table LEFT JOIN topic ON topic.id = topic_id WHERE "
)


class Run(Protocol):
    def __call__(self, verb: Callable[[Connection], Awaitable[T]], /) -> Awaitable[T]: ...


class PostgresTables:
    """The TableStore of a PostgresStore, which lends it its connections."""

    def __init__(self, *, write: Run, read: Run) -> None:
        self._run = write
        self._read = read

    async def _write(self, verb: Callable[[Connection], Awaitable[None]], receipt: Receipt | None) -> None:
        async def in_transaction(connection: Connection) -> None:
            async with connection.transaction():
                if receipt is not None:
                    await _keep_receipt(connection, receipt)
                await verb(connection)

        await self._run(in_transaction)

    # --- namespaces ----------------------------------------------------------------------------

    async def create_namespace(
        self, namespace: Namespace, properties: Mapping[str, str], *, receipt: Receipt | None = None
    ) -> None:
        await self._write(lambda c: _create_namespace(c, namespace, properties), receipt)

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
        return await self._read(
            lambda c: _pointer(c, "namespace = %s AND lake_table.name = %s", joined(namespace), name)
        )

    async def table_of_topic(self, topic: TopicId) -> TablePointer | None:
        return await self._read(lambda c: _pointer(c, "topic_id = %s", topic))

    async def table_with_id(self, table: TableId) -> TablePointer | None:
        return await self._read(lambda c: _pointer(c, "lake_table.id = %s", table))

    async def table_ids(self, kinds: Collection[TableKind]) -> list[TableId]:
        return await self._read(lambda c: _table_ids(c, kinds))

    async def move_tables(self, moves: Sequence[PointerMove], *, receipt: Receipt | None = None) -> None:
        await self._write(lambda c: _move_tables(c, moves), receipt)

    async def replace_table(self, old: TablePointer, pointer: TablePointer, *, receipt: Receipt | None = None) -> None:
        await self._write(lambda c: _replace_table(c, old, pointer), receipt)

    async def rename_table(
        self, table: TableId, namespace: Namespace, name: str, *, receipt: Receipt | None = None
    ) -> None:
        await self._write(lambda c: _rename_table(c, table, namespace, name), receipt)

    async def drop_table(self, table: TableId, *, receipt: Receipt | None = None) -> None:
        await self._write(lambda c: _drop_table(c, table), receipt)

    async def dropped_tables(self, age_ms: int, limit: int) -> list[TableId]:
        return await self._read(lambda c: _dropped_tables(c, age_ms, limit))

    async def make_ordinary(self, table: TableId, age_ms: int) -> bool:
        return await self._run(lambda c: _make_ordinary(c, table, age_ms))

    async def receipt(self, key: str) -> Receipt | None:
        return await self._read(lambda c: _receipt(c, key))


async def _create_namespace(connection: Connection, namespace: Namespace, properties: Mapping[str, str]) -> None:
    if len(namespace) > 1:
        await _hold_namespace(connection, namespace[:-1])
    inserted = await connection.execute(
        "INSERT INTO namespace VALUES (%s, %s, %s, now_ms()) ON CONFLICT DO NOTHING",
        (joined(namespace), joined(namespace[:-1]), json.dumps(dict(properties))),
    )
    if inserted.rowcount == 0:
        raise namespace_exists(namespace)


async def _namespaces(connection: Connection, parent: Namespace) -> list[Namespace]:
    rows = await all_rows(connection, "SELECT name FROM namespace WHERE parent = %s ORDER BY name", (joined(parent),))
    if parent and not rows:
        await _properties(connection, parent)
    return [split(row[0]) for row in rows]


async def _properties(connection: Connection, namespace: Namespace) -> dict[str, str]:
    row = await maybe_row(connection, "SELECT properties FROM namespace WHERE name = %s", (joined(namespace),))
    if row is None:
        raise unknown_namespace(namespace)
    properties: dict[str, str] = json.loads(row[0])
    return properties


async def _replace_properties(
    connection: Connection, namespace: Namespace, expected: Mapping[str, str], properties: Mapping[str, str]
) -> None:
    name = joined(namespace)
    await connection.execute("SELECT 1 FROM namespace WHERE name = %s FOR UPDATE", (name,))
    if await _properties(connection, namespace) != dict(expected):
        raise properties_changed(namespace)
    await connection.execute(
        "UPDATE namespace SET properties = %s WHERE name = %s", (json.dumps(dict(properties)), name)
    )


async def _drop_namespace(connection: Connection, namespace: Namespace) -> None:
    name = joined(namespace)
    if await maybe_row(connection, "SELECT 1 FROM namespace WHERE name = %s FOR UPDATE", (name,)) is None:
        raise unknown_namespace(namespace)
    (used,) = await one_row(
        connection,
        "SELECT EXISTS (SELECT 1 FROM lake_table WHERE namespace = %s)"
        " OR EXISTS (SELECT 1 FROM namespace WHERE parent = %s)",
        (name, name),
    )
    if used:
        raise namespace_not_empty(namespace)
    await connection.execute("DELETE FROM namespace WHERE name = %s", (name,))


async def _tables(connection: Connection, namespace: Namespace) -> list[TableName]:
    rows = await all_rows(
        connection,
        "SELECT lake_table.name, kind, topic.config FROM lake_table LEFT JOIN topic ON topic.id = topic_id"
        " WHERE namespace = %s ORDER BY lake_table.name",
        (joined(namespace),),
    )
    if not rows:
        await _properties(connection, namespace)
    return [TableName(name, TableKind(kind), is_listed(config)) for name, kind, config in rows]


async def _pointer(connection: Connection, where: LiteralString, *parameters: object) -> TablePointer | None:
    row = await maybe_row(connection, _POINTER + where, parameters)
    return None if row is None else _pointer_of(row)


async def _table_ids(connection: Connection, kinds: Collection[TableKind]) -> list[TableId]:
    wanted = [kind.value for kind in kinds]
    rows = await all_rows(connection, "SELECT id FROM lake_table WHERE kind = ANY (%s) ORDER BY id", (wanted,))
    return [row[0] for row in rows]


def _pointer_of(row: tuple[Any, ...]) -> TablePointer:
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


async def _move_tables(connection: Connection, moves: Sequence[PointerMove]) -> None:
    for namespace in sorted({move.pointer.namespace for move in moves if move.expected_location is None}):
        await _hold_namespace(connection, namespace)
    for move in sorted(moves, key=lambda move: move.pointer.id):
        if move.expected_location is None:
            await _insert(connection, move.pointer)
        else:
            await _move(connection, move.pointer, move.expected_location)


async def _insert(connection: Connection, pointer: TablePointer) -> None:
    if pointer.topic is not None:
        await _hold_topic(connection, pointer.topic)
    inserted = await connection.execute(
        "INSERT INTO lake_table VALUES (%s, %s, %s, %s, %s, %s, now_ms()) ON CONFLICT DO NOTHING",
        (
            pointer.id,
            joined(pointer.namespace),
            pointer.name,
            pointer.kind.value,
            pointer.metadata_location,
            pointer.topic,
        ),
    )
    if inserted.rowcount == 0:
        raise table_exists(pointer.namespace, pointer.name)


async def _move(connection: Connection, pointer: TablePointer, expected: str) -> None:
    moved = await connection.execute(
        "UPDATE lake_table SET metadata_location = %s, changed_ms = now_ms() WHERE id = %s AND metadata_location = %s",
        (pointer.metadata_location, pointer.id, expected),
    )
    if moved.rowcount == 0:
        raise table_moved(pointer)


async def _replace_table(connection: Connection, old: TablePointer, pointer: TablePointer) -> None:
    await _hold_namespace(connection, pointer.namespace)
    gone = await connection.execute(
        "DELETE FROM lake_table WHERE id = %s AND metadata_location = %s", (old.id, old.metadata_location)
    )
    if gone.rowcount == 0:
        raise table_moved(old)
    await _insert(connection, pointer)


async def _rename_table(connection: Connection, table: TableId, namespace: Namespace, name: str) -> None:
    await _hold_namespace(connection, namespace)
    try:
        renamed = await connection.execute(
            "UPDATE lake_table SET namespace = %s, name = %s, changed_ms = now_ms() WHERE id = %s",
            (joined(namespace), name, table),
        )
    except UniqueViolation:
        raise table_exists(namespace, name) from None
    if renamed.rowcount == 0:
        raise unknown_table_id(table)


async def _drop_table(connection: Connection, table: TableId) -> None:
    dropped = await connection.execute("DELETE FROM lake_table WHERE id = %s", (table,))
    if dropped.rowcount == 0:
        raise unknown_table_id(table)


async def _dropped_tables(connection: Connection, age_ms: int, limit: int) -> list[TableId]:
    rows = await all_rows(
        connection,
        "SELECT id FROM lake_table WHERE namespace = %s AND kind = %s AND changed_ms <= now_ms() - %s"
        " ORDER BY changed_ms LIMIT %s",
        (NOWHERE, TableKind.DROPPED.value, age_ms, limit),
    )
    return [row[0] for row in rows]


async def _make_ordinary(connection: Connection, table: TableId, age_ms: int) -> bool:
    made = await connection.execute(
        "UPDATE lake_table SET kind = %s WHERE id = %s AND kind = %s AND changed_ms <= now_ms() - %s",
        (TableKind.ORDINARY.value, table, TableKind.KEPT.value, age_ms),
    )
    return made.rowcount > 0


async def _hold_namespace(connection: Connection, namespace: Namespace) -> None:
    name = joined(namespace)
    if await maybe_row(connection, "SELECT 1 FROM namespace WHERE name = %s FOR SHARE", (name,)) is None:
        raise unknown_namespace(namespace)


async def _hold_topic(connection: Connection, topic: TopicId) -> None:
    """Whoever deletes it then waits, and finds its table."""
    if await maybe_row(connection, "SELECT 1 FROM topic WHERE id = %s FOR KEY SHARE", (topic,)) is None:
        raise unknown_topic_id(topic)


async def _receipt(connection: Connection, key: str) -> Receipt | None:
    row = await maybe_row(connection, "SELECT request, answer FROM receipt WHERE key = %s", (key,))
    return None if row is None else Receipt(key=key, request=row[0], answer=row[1])


async def _keep_receipt(connection: Connection, receipt: Receipt) -> None:
    """The first to insert the key carries the request out; a second one waits here, then reads the answer."""
    await connection.execute("DELETE FROM receipt WHERE created_ms < now_ms() - %s", (RECEIPT_KEPT_MS,))
    inserted = await connection.execute(
        "INSERT INTO receipt VALUES (%s, %s, %s, now_ms()) ON CONFLICT DO NOTHING",
        (receipt.key, receipt.request, receipt.answer),
    )
    if inserted.rowcount == 0 and (known := await _receipt(connection, receipt.key)) is not None:
        raise AnsweredBefore(known)
