"""The verbs of namespaces, tables and receipts.

A verb that puts a table or namespace into a namespace holds a shared lock on its row, so that nobody drops it
meanwhile. Tables are locked in the order of their ids.
"""

import json
from collections.abc import Collection, Mapping, Sequence

from lakestream.metadata.rules.missing import (
    namespace_exists,
    namespace_not_empty,
    properties_changed,
    table_exists,
    table_moved,
    unknown_namespace,
    unknown_parent,
    unknown_table_id,
    unknown_topic_id,
)
from lakestream.metadata.table_store import NOWHERE, RECEIPT_KEPT_MS, TableName, is_listed, joined, split
from lakestream.metadata.verbs.appending import append_files_of
from lakestream.metadata.verbs.registry import register_foreseen
from lakestream.metadata.verbs.running import Verbs, reads, transacts, writes
from lakestream.metadata.verbs.steps import DuplicateKey, Row, Steps, all_rows, changed, lock, maybe_row, one_row
from lakestream.metadata.verbs.topics import insert_topic
from lakestream.model.configs.topic_config import chosen_freshness
from lakestream.model.table import Namespace, PointerMove, RequestReceipt, TableId, TableKind, TablePointer
from lakestream.model.table_errors import AnsweredBefore
from lakestream.model.topic import TopicId

_POINTER = (
    "SELECT lake_table.id, namespace, lake_table.name, kind, metadata_location, topic_id, topic.config, topic.name"
    " FROM lake_table LEFT JOIN topic ON topic.id = topic_id WHERE "
)


class TableVerbs(Verbs):
    """The TableStore of both stores."""

    # --- namespaces ----------------------------------------------------------------------------

    @transacts
    def create_namespace(
        self, namespace: Namespace, properties: Mapping[str, str], *, receipt: RequestReceipt | None = None
    ) -> Steps[None]:
        yield from _keep(receipt)
        if len(namespace) > 1:
            yield from _hold_namespace(namespace[:-1])
        inserted = yield from changed(
            "INSERT INTO namespace VALUES (:name, :parent, :properties, now_ms()) ON CONFLICT DO NOTHING",
            name=joined(namespace),
            parent=joined(namespace[:-1]),
            properties=json.dumps(dict(properties)),
        )
        if inserted == 0:
            raise namespace_exists(namespace)

    @reads
    def namespaces(self, parent: Namespace) -> Steps[list[Namespace]]:
        rows = yield from all_rows(
            "SELECT name FROM namespace WHERE parent = :parent ORDER BY name", parent=joined(parent)
        )
        if parent and not rows and not (yield from _is_there(parent)):
            raise unknown_parent(parent)
        return [split(row[0]) for row in rows]

    @reads
    def namespace_properties(self, namespace: Namespace) -> Steps[dict[str, str]]:
        return (yield from _properties(namespace))

    @transacts
    def replace_namespace_properties(
        self,
        namespace: Namespace,
        *,
        expected: Mapping[str, str],
        properties: Mapping[str, str],
        receipt: RequestReceipt | None = None,
    ) -> Steps[None]:
        yield from _keep(receipt)
        if (yield from _locked_properties(namespace)) != dict(expected):
            raise properties_changed(namespace)
        yield from changed(
            "UPDATE namespace SET properties = :properties WHERE name = :name",
            properties=json.dumps(dict(properties)),
            name=joined(namespace),
        )

    @transacts
    def drop_namespace(self, namespace: Namespace, *, receipt: RequestReceipt | None = None) -> Steps[None]:
        yield from _keep(receipt)
        name = joined(namespace)
        yield from lock("SELECT 1 FROM namespace WHERE name = :name FOR UPDATE", name=name)
        (used,) = yield from one_row(
            "SELECT EXISTS (SELECT 1 FROM lake_table WHERE namespace = :name)"
            " OR EXISTS (SELECT 1 FROM namespace WHERE parent = :name)",
            name=name,
        )
        if used:
            raise namespace_not_empty(namespace)
        if (yield from changed("DELETE FROM namespace WHERE name = :name", name=name)) == 0:
            raise unknown_namespace(namespace)

    # --- tables and views ----------------------------------------------------------------------

    @reads
    def tables(self, namespace: Namespace) -> Steps[list[TableName]]:
        rows = yield from all_rows(
            "SELECT lake_table.name, kind, topic.config, topic.name"
            " FROM lake_table LEFT JOIN topic ON topic.id = topic_id"
            " WHERE namespace = :namespace ORDER BY lake_table.name",
            namespace=joined(namespace),
        )
        if not rows:
            yield from _properties(namespace)
        return [TableName(name, TableKind(kind), is_listed(config), topic) for name, kind, config, topic in rows]

    @reads
    def table(self, namespace: Namespace, name: str) -> Steps[TablePointer | None]:
        row = yield from maybe_row(
            f"{_POINTER}namespace = :namespace AND lake_table.name = :name", namespace=joined(namespace), name=name
        )
        return _pointer_of(row)

    @reads
    def table_of_topic(self, topic: TopicId) -> Steps[TablePointer | None]:
        return _pointer_of((yield from maybe_row(f"{_POINTER}topic_id = :topic", topic=topic)))

    @reads
    def table_with_id(self, table: TableId) -> Steps[TablePointer | None]:
        return _pointer_of((yield from maybe_row(f"{_POINTER}lake_table.id = :table", table=table)))

    @reads
    def table_ids(self, kinds: Collection[TableKind]) -> Steps[list[TableId]]:
        rows = yield from all_rows(
            "SELECT id FROM lake_table WHERE kind = ANY (:kinds) ORDER BY id", kinds=[kind.value for kind in kinds]
        )
        return [row[0] for row in rows]

    @transacts
    def move_tables(self, moves: Sequence[PointerMove], *, receipt: RequestReceipt | None = None) -> Steps[None]:
        yield from _keep(receipt)
        for namespace in sorted({move.pointer.namespace for move in moves if move.expected_location is None}):
            yield from _hold_namespace(namespace)
        for move in moves:
            if move.new_topic is not None:
                yield from insert_topic(move.new_topic)
        for move in moves:
            if move.registered is not None:
                yield from register_foreseen(move.registered)
        for move in moves:
            if move.appended:
                yield from append_files_of(move)
        for move in sorted(moves, key=lambda move: move.pointer.id):
            if move.expected_location is None:
                yield from _insert(move.pointer)
            elif move.new_topic is None:
                yield from _move(move.pointer, move.expected_location)
            else:
                yield from _adopt(move.pointer, move.expected_location)

    @transacts
    def replace_table(
        self, old: TablePointer, pointer: TablePointer, *, receipt: RequestReceipt | None = None
    ) -> Steps[None]:
        yield from _keep(receipt)
        yield from _hold_namespace(pointer.namespace)
        gone = yield from changed(
            "DELETE FROM lake_table WHERE id = :id AND metadata_location = :location",
            id=old.id,
            location=old.metadata_location,
        )
        if gone == 0:
            raise table_moved(old)
        yield from _insert(pointer)

    @transacts
    def rename_table(
        self, table: TableId, namespace: Namespace, name: str, *, receipt: RequestReceipt | None = None
    ) -> Steps[None]:
        yield from _keep(receipt)
        yield from _hold_namespace(namespace)
        try:
            renamed = yield from changed(
                "UPDATE lake_table SET namespace = :namespace, name = :name, changed_ms = now_ms() WHERE id = :table",
                namespace=joined(namespace),
                name=name,
                table=table,
            )
        except DuplicateKey:
            raise table_exists(namespace, name) from None
        if renamed == 0:
            raise unknown_table_id(table)

    @transacts
    def drop_table(self, table: TableId, *, receipt: RequestReceipt | None = None) -> Steps[None]:
        yield from _keep(receipt)
        if (yield from changed("DELETE FROM lake_table WHERE id = :table", table=table)) == 0:
            raise unknown_table_id(table)

    @reads
    def dropped_tables(self, age_ms: int, limit: int) -> Steps[list[TableId]]:
        rows = yield from all_rows(
            "SELECT id FROM lake_table WHERE namespace = :nowhere AND kind = :dropped"
            " AND changed_ms <= now_ms() - :age_ms ORDER BY changed_ms LIMIT :limit",
            nowhere=NOWHERE,
            dropped=TableKind.DROPPED.value,
            age_ms=age_ms,
            limit=limit,
        )
        return [row[0] for row in rows]

    @writes
    def make_ordinary(self, table: TableId, age_ms: int) -> Steps[bool]:
        made = yield from changed(
            "UPDATE lake_table SET kind = :ordinary"
            " WHERE id = :table AND kind = :kept AND changed_ms <= now_ms() - :age_ms",
            ordinary=TableKind.ORDINARY.value,
            table=table,
            kept=TableKind.KEPT.value,
            age_ms=age_ms,
        )
        return made > 0

    # --- receipts ------------------------------------------------------------------------------

    @reads
    def receipt(self, key: str) -> Steps[RequestReceipt | None]:
        return (yield from _receipt(key))


def _is_there(namespace: Namespace) -> Steps[bool]:
    return (yield from maybe_row("SELECT 1 FROM namespace WHERE name = :name", name=joined(namespace))) is not None


def _properties(namespace: Namespace) -> Steps[dict[str, str]]:
    row = yield from maybe_row("SELECT properties FROM namespace WHERE name = :name", name=joined(namespace))
    return _properties_of(namespace, row)


def _locked_properties(namespace: Namespace) -> Steps[dict[str, str]]:
    row = yield from maybe_row("SELECT properties FROM namespace WHERE name = :name FOR UPDATE", name=joined(namespace))
    return _properties_of(namespace, row)


def _properties_of(namespace: Namespace, row: Row | None) -> dict[str, str]:
    if row is None:
        raise unknown_namespace(namespace)
    properties: dict[str, str] = json.loads(row[0])
    return properties


def _hold_namespace(namespace: Namespace) -> Steps[None]:
    row = yield from maybe_row("SELECT 1 FROM namespace WHERE name = :name FOR SHARE", name=joined(namespace))
    if row is None:
        raise unknown_namespace(namespace)


def _hold_topic(topic: TopicId) -> Steps[None]:
    """Lock the topic. A deletion of the topic then waits, and finds its table."""
    if (yield from maybe_row("SELECT 1 FROM topic WHERE id = :topic FOR KEY SHARE", topic=topic)) is None:
        raise unknown_topic_id(topic)


def _pointer_of(row: Row | None) -> TablePointer | None:
    if row is None:
        return None
    id, namespace, name, kind, location, topic, config, topic_name = row
    return TablePointer(
        id=id,
        namespace=split(namespace),
        name=name,
        kind=TableKind(kind),
        metadata_location=location,
        topic=topic,
        listed=is_listed(config),
        freshness=None if config is None else chosen_freshness(json.loads(config)),
        topic_name=topic_name,
    )


def _insert(pointer: TablePointer) -> Steps[None]:
    if pointer.topic is not None:
        yield from _hold_topic(pointer.topic)
    inserted = yield from changed(
        "INSERT INTO lake_table VALUES (:id, :namespace, :name, :kind, :location, :topic, now_ms())"
        " ON CONFLICT DO NOTHING",
        id=pointer.id,
        namespace=joined(pointer.namespace),
        name=pointer.name,
        kind=pointer.kind.value,
        location=pointer.metadata_location,
        topic=pointer.topic,
    )
    if inserted == 0:
        raise table_exists(pointer.namespace, pointer.name)


def _move(pointer: TablePointer, expected: str) -> Steps[None]:
    moved = yield from changed(
        "UPDATE lake_table SET metadata_location = :location, changed_ms = now_ms()"
        " WHERE id = :id AND metadata_location = :expected",
        location=pointer.metadata_location,
        id=pointer.id,
        expected=expected,
    )
    if moved == 0:
        raise table_moved(pointer)


def _adopt(pointer: TablePointer, expected: str) -> Steps[None]:
    """Make an ordinary table the table of a new topic. It must still have its name, which is the topic's."""
    adopted = yield from changed(
        "UPDATE lake_table SET metadata_location = :location, kind = :kind, topic_id = :topic, changed_ms = now_ms()"
        " WHERE id = :id AND metadata_location = :expected AND kind = :ordinary"
        " AND namespace = :namespace AND name = :name",
        location=pointer.metadata_location,
        kind=pointer.kind.value,
        topic=pointer.topic,
        id=pointer.id,
        expected=expected,
        ordinary=TableKind.ORDINARY.value,
        namespace=joined(pointer.namespace),
        name=pointer.name,
    )
    if adopted == 0:
        raise table_moved(pointer)


def _receipt(key: str) -> Steps[RequestReceipt | None]:
    row = yield from maybe_row("SELECT request, answer FROM receipt WHERE key = :key", key=key)
    return None if row is None else RequestReceipt(key=key, request=row[0], answer=row[1])


def _keep(receipt: RequestReceipt | None) -> Steps[None]:
    """Keep the receipt. The first request to insert the key runs; a second one waits here, then reads the answer."""
    if receipt is None:
        return
    yield from changed("DELETE FROM receipt WHERE created_ms < now_ms() - :kept_ms", kept_ms=RECEIPT_KEPT_MS)
    inserted = yield from changed(
        "INSERT INTO receipt VALUES (:key, :request, :answer, now_ms()) ON CONFLICT DO NOTHING",
        key=receipt.key,
        request=receipt.request,
        answer=receipt.answer,
    )
    if inserted == 0 and (known := (yield from _receipt(receipt.key))) is not None:
        raise AnsweredBefore(known)
