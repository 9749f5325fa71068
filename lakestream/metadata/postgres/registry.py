"""Schemas, subjects and versions in PostgreSQL.

Every write first locks the registry's one row: they are rare, and follow one another. Reads take what is committed; a
view reads its moment before its versions, so that a registration judged against a mixture is refused, not accepted.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, LiteralString, Protocol, TypeVar

from lakestream.metadata.postgres.asking import all_rows, maybe_row, one_row
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.rules.registry_rows import schema_of, settings_of, version_of, written_references
from lakestream.metadata.rules.registry_rules import (
    deletable_versions,
    id_for,
    must_be_current,
    must_be_deletable,
    must_be_empty_for_import,
    must_lead_somewhere,
    must_not_be_referred,
    version_for,
)
from lakestream.model.registry import (
    GLOBAL_SUBJECT,
    Compatibility,
    Mode,
    NewVersion,
    Shown,
    StoredSchema,
    SubjectSettings,
    SubjectVersion,
    SubjectView,
    VersionEntry,
    VersionKey,
)

T = TypeVar("T")

_SCHEMA: LiteralString = "s.id, s.guid, s.format, s.text, s.refs"
_VERSION: LiteralString = (
    f"SELECT v.subject, v.version, v.deleted, {_SCHEMA}"
    " FROM subject_version v JOIN registered_schema s ON s.id = v.schema_id"
)
_SHOWN: dict[Shown, LiteralString] = {
    Shown.LIVE: "v.deleted = 0",
    Shown.DELETED: "v.deleted = 1",
    Shown.ALL: "TRUE",
}
_SUBJECTS_SHOWN: dict[Shown, LiteralString] = {
    Shown.LIVE: "min(deleted) = 0",
    Shown.DELETED: "min(deleted) = 1",
    Shown.ALL: "TRUE",
}


class Run(Protocol):
    def __call__(self, verb: Callable[[Connection], Awaitable[T]], /) -> Awaitable[T]: ...


class PostgresRegistry:
    """The RegistryStore of a PostgresStore, which lends it its connections."""

    def __init__(self, *, write: Run, read: Run) -> None:
        self._run = write
        self._read = read

    async def _write(self, verb: Callable[[Connection], Awaitable[T]]) -> T:
        async def in_turn(connection: Connection) -> T:
            async with connection.transaction():
                await connection.execute("SELECT 1 FROM registry FOR UPDATE")
                return await verb(connection)

        return await self._run(in_turn)

    # --- reading -------------------------------------------------------------------------------

    async def subjects(self, prefix: str, shown: Shown) -> list[str]:
        return await self._read(lambda c: _subjects(c, prefix, shown))

    async def subject_view(self, subject: str) -> SubjectView:
        return await self._read(lambda c: _view(c, subject))

    async def subject_versions(
        self, prefix: str, shown: Shown, *, latest_only: bool, offset: int, limit: int
    ) -> list[SubjectVersion]:
        return await self._read(lambda c: _subject_versions(c, prefix, shown, latest_only, offset, limit))

    async def version(self, key: VersionKey) -> SubjectVersion | None:
        return await self._read(lambda c: _version(c, key))

    async def schemas(self, ids: Sequence[int]) -> dict[int, StoredSchema]:
        return await self._read(lambda c: _schemas(c, ids))

    async def schema_by_guid(self, guid: str) -> StoredSchema | None:
        return await self._read(lambda c: _schema_by_guid(c, guid))

    async def schema_id_max(self) -> int:
        return await self._read(_next_id) - 1

    async def versions_of_schema(self, id: int, shown: Shown) -> list[VersionKey]:
        return await self._read(lambda c: _versions_of_schema(c, id, shown))

    async def referrers(self, key: VersionKey) -> list[int]:
        return await self._read(lambda c: _referrers(c, key, Shown.LIVE))

    # --- writing -------------------------------------------------------------------------------

    async def register(self, new: NewVersion) -> SubjectVersion:
        return await self._write(lambda c: _register(c, new))

    async def delete_version(self, key: VersionKey, *, permanent: bool) -> None:
        await self._write(lambda c: _delete_version(c, key, permanent))

    async def delete_subject(self, subject: str, *, permanent: bool) -> list[int]:
        return await self._write(lambda c: _delete_subject(c, subject, permanent))

    # --- settings ------------------------------------------------------------------------------

    async def settings(self, subject: str) -> SubjectSettings:
        return settings_of(await self._read(lambda c: _subject_row(c, subject)))

    async def set_compatibility(self, subject: str, level: Compatibility | None, normalize: bool | None) -> None:
        await self._write(lambda c: _set_compatibility(c, subject, level, normalize))

    async def set_mode(self, subject: str, mode: Mode | None, *, force: bool) -> None:
        await self._write(lambda c: _set_mode(c, subject, mode, force))


async def _subjects(connection: Connection, prefix: str, shown: Shown) -> list[str]:
    rows = await all_rows(
        connection,
        "SELECT subject FROM subject_version WHERE starts_with(subject, %s) GROUP BY subject HAVING "
        + _SUBJECTS_SHOWN[shown]
        + " ORDER BY subject",
        (prefix,),
    )
    return [row[0] for row in rows]


async def _view(connection: Connection, subject: str) -> SubjectView:
    own, general = await _subject_row(connection, subject), await _subject_row(connection, GLOBAL_SUBJECT)
    rows = await all_rows(
        connection,
        "SELECT v.version, v.schema_id, s.guid, v.deleted FROM subject_version v"
        " JOIN registered_schema s ON s.id = v.schema_id WHERE v.subject = %s ORDER BY v.version",
        (subject,),
    )
    return SubjectView(
        moment=(own[0], general[0]),
        own=settings_of(own),
        general=settings_of(general),
        versions=tuple(VersionEntry(version, id, guid, bool(deleted)) for version, id, guid, deleted in rows),
    )


async def _subject_row(connection: Connection, subject: str) -> tuple[Any, ...]:
    row = await maybe_row(
        connection, "SELECT changes, compatibility, mode, normalize FROM subject WHERE name = %s", (subject,)
    )
    return row or (0, None, None, None)


async def _subject_versions(
    connection: Connection, prefix: str, shown: Shown, latest_only: bool, offset: int, limit: int
) -> list[SubjectVersion]:
    newest: LiteralString = (
        " AND v.version = (SELECT max(o.version) FROM subject_version o WHERE o.subject = v.subject AND "
        + _SHOWN[shown].replace("v.", "o.")
        + ")"
    )
    rows = await all_rows(
        connection,
        _VERSION
        + " WHERE starts_with(v.subject, %s) AND "
        + _SHOWN[shown]
        + (newest if latest_only else "")
        + " ORDER BY v.subject, v.version LIMIT %s OFFSET %s",
        (prefix, limit, offset),
    )
    return [version_of(row) for row in rows]


async def _version(connection: Connection, key: VersionKey) -> SubjectVersion | None:
    row = await maybe_row(connection, _VERSION + " WHERE v.subject = %s AND v.version = %s", key)
    return None if row is None else version_of(row)


async def _schemas(connection: Connection, ids: Sequence[int]) -> dict[int, StoredSchema]:
    rows = await all_rows(
        connection, f"SELECT {_SCHEMA} FROM registered_schema s WHERE s.id = ANY(%s::bigint[])", (list(ids),)
    )
    return {row[0]: schema_of(row) for row in rows}


async def _schema_by_guid(connection: Connection, guid: str) -> StoredSchema | None:
    row = await maybe_row(connection, f"SELECT {_SCHEMA} FROM registered_schema s WHERE s.guid = %s", (guid,))
    return None if row is None else schema_of(row)


async def _next_id(connection: Connection) -> int:
    return int((await one_row(connection, "SELECT next_schema_id FROM registry"))[0])


async def _versions_of_schema(connection: Connection, id: int, shown: Shown) -> list[VersionKey]:
    rows = await all_rows(
        connection,
        "SELECT v.subject, v.version FROM subject_version v WHERE v.schema_id = %s AND "
        + _SHOWN[shown]
        + " ORDER BY 1, 2",
        (id,),
    )
    return [VersionKey(*row) for row in rows]


async def _referrers(connection: Connection, key: VersionKey, shown: Shown) -> list[int]:
    rows = await all_rows(
        connection,
        "SELECT DISTINCT r.schema_id FROM schema_reference r JOIN subject_version v ON v.schema_id = r.schema_id"
        " WHERE r.subject = %s AND r.version = %s AND " + _SHOWN[shown] + " ORDER BY 1",
        key,
    )
    return [row[0] for row in rows]


# --- writing -----------------------------------------------------------------------------------


async def _register(connection: Connection, new: NewVersion) -> SubjectVersion:
    own, general = await _subject_row(connection, new.subject), await _subject_row(connection, GLOBAL_SUBJECT)
    must_be_current(new, (own[0], general[0]))
    for reference in new.body.references:
        key = VersionKey(reference.subject, reference.version)
        must_lead_somewhere(reference, await _is_deleted(connection, key))
    id = await _keep_schema(connection, new)
    version = version_for(new, await _versions(connection, new.subject))
    await connection.execute("INSERT INTO subject_version VALUES (%s, %s, %s, 0, now_ms())", (new.subject, version, id))
    await _note_change(connection, new.subject)
    schema = StoredSchema(id=id, body=new.body)
    return SubjectVersion(subject=new.subject, version=version, schema=schema, deleted=False)


async def _is_deleted(connection: Connection, key: VersionKey) -> bool | None:
    row = await maybe_row(connection, "SELECT deleted FROM subject_version WHERE subject = %s AND version = %s", key)
    return None if row is None else bool(row[0])


async def _keep_schema(connection: Connection, new: NewVersion) -> int:
    body, next_id = new.body, await _next_id(connection)
    existing = await _schema_by_guid(connection, body.guid)
    taken = await maybe_row(connection, "SELECT 1 FROM registered_schema WHERE id = %s", (new.id,)) is not None
    id = id_for(new, None if existing is None else existing.id, taken=taken, next_id=next_id)
    if existing is not None:
        return id
    await connection.execute(
        "INSERT INTO registered_schema VALUES (%s, %s, %s, %s, %s)",
        (id, body.guid, body.format.value, body.text, written_references(body.references)),
    )
    for subject, version in {(reference.subject, reference.version) for reference in body.references}:
        await connection.execute("INSERT INTO schema_reference VALUES (%s, %s, %s)", (id, subject, version))
    await connection.execute("UPDATE registry SET next_schema_id = %s", (max(next_id, id + 1),))
    return id


async def _versions(connection: Connection, subject: str) -> dict[int, bool]:
    rows = await all_rows(connection, "SELECT version, deleted FROM subject_version WHERE subject = %s", (subject,))
    return {version: bool(deleted) for version, deleted in rows}


async def _delete_version(connection: Connection, key: VersionKey, permanent: bool) -> None:
    must_be_deletable(key, await _versions(connection, key.subject), permanent=permanent)
    await _delete(connection, key.subject, [key.version], permanent)


async def _delete_subject(connection: Connection, subject: str, permanent: bool) -> list[int]:
    versions = deletable_versions(subject, await _versions(connection, subject), permanent=permanent)
    await _delete(connection, subject, versions, permanent)
    await connection.execute(
        "UPDATE subject SET compatibility = NULL, mode = NULL, normalize = NULL WHERE name = %s", (subject,)
    )
    return versions


async def _delete(connection: Connection, subject: str, versions: Sequence[int], permanent: bool) -> None:
    for version in versions:
        key = VersionKey(subject, version)
        must_not_be_referred(key, await _referrers(connection, key, Shown.ALL if permanent else Shown.LIVE))
        await (_remove if permanent else _hide)(connection, key)
    await _note_change(connection, subject)


async def _hide(connection: Connection, key: VersionKey) -> None:
    await connection.execute("UPDATE subject_version SET deleted = 1 WHERE subject = %s AND version = %s", key)


async def _remove(connection: Connection, key: VersionKey) -> None:
    """The version; and its schema, if no other version has it."""
    (id,) = await one_row(
        connection, "DELETE FROM subject_version WHERE subject = %s AND version = %s RETURNING schema_id", key
    )
    if not await _versions_of_schema(connection, id, Shown.ALL):
        await connection.execute("DELETE FROM registered_schema WHERE id = %s", (id,))
        await connection.execute("DELETE FROM schema_reference WHERE schema_id = %s", (id,))


async def _note_change(connection: Connection, subject: str) -> None:
    await connection.execute(
        "INSERT INTO subject (name, changes) VALUES (%s, 1)"
        " ON CONFLICT (name) DO UPDATE SET changes = subject.changes + 1",
        (subject,),
    )


async def _set_compatibility(
    connection: Connection, subject: str, level: Compatibility | None, normalize: bool | None
) -> None:
    await _note_change(connection, subject)
    await connection.execute(
        "UPDATE subject SET compatibility = %s, normalize = %s WHERE name = %s",
        (None if level is None else level.value, None if normalize is None else int(normalize), subject),
    )


async def _set_mode(connection: Connection, subject: str, mode: Mode | None, force: bool) -> None:
    if mode is Mode.IMPORT:
        (live,) = await one_row(
            connection,
            "SELECT count(*) FROM subject_version WHERE deleted = 0 AND (%s = '' OR subject = %s)",
            (subject, subject),
        )
        must_be_empty_for_import(subject, live, force=force)
    await _note_change(connection, subject)
    await connection.execute(
        "UPDATE subject SET mode = %s WHERE name = %s", (None if mode is None else mode.value, subject)
    )
