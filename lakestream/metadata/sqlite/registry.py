"""Schemas, subjects and versions in SQLite."""

import json
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

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

_SCHEMA = "s.id, s.guid, s.format, s.text, s.refs"
_VERSION = (
    f"SELECT v.subject, v.version, v.deleted, {_SCHEMA}"
    " FROM subject_version v JOIN registered_schema s ON s.id = v.schema_id"
)
_SHOWN = {Shown.LIVE: "v.deleted = 0", Shown.DELETED: "v.deleted = 1", Shown.ALL: "TRUE"}
_SUBJECTS_SHOWN = {Shown.LIVE: "min(deleted) = 0", Shown.DELETED: "min(deleted) = 1", Shown.ALL: "TRUE"}


class Run(Protocol):
    def __call__(self, verb: Callable[[sqlite3.Connection], T], /) -> Awaitable[T]: ...


class SqliteRegistry:
    """The RegistryStore of a SqliteStore, which lends it its writer and its reader."""

    def __init__(self, *, write: Run, read: Run, now_ms: Callable[[], int]) -> None:
        self._write = write
        self._read = read
        self._now = now_ms

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
        return await self._read(lambda c: _next_id(c) - 1)

    async def versions_of_schema(self, id: int, shown: Shown) -> list[VersionKey]:
        return await self._read(lambda c: _versions_of_schema(c, id, shown))

    async def referrers(self, key: VersionKey) -> list[int]:
        return await self._read(lambda c: _referrers(c, key, Shown.LIVE))

    # --- writing -------------------------------------------------------------------------------

    async def register(self, new: NewVersion) -> SubjectVersion:
        return await self._write(lambda c: _register(c, new, self._now()))

    async def delete_version(self, key: VersionKey, *, permanent: bool) -> None:
        await self._write(lambda c: _delete_version(c, key, permanent))

    async def delete_subject(self, subject: str, *, permanent: bool) -> list[int]:
        return await self._write(lambda c: _delete_subject(c, subject, permanent))

    # --- settings ------------------------------------------------------------------------------

    async def settings(self, subject: str) -> SubjectSettings:
        return await self._read(lambda c: settings_of(_subject_row(c, subject)))

    async def set_compatibility(self, subject: str, level: Compatibility | None, normalize: bool | None) -> None:
        await self._write(lambda c: _set_compatibility(c, subject, level, normalize))

    async def set_mode(self, subject: str, mode: Mode | None, *, force: bool) -> None:
        await self._write(lambda c: _set_mode(c, subject, mode, force))


def _subjects(connection: sqlite3.Connection, prefix: str, shown: Shown) -> list[str]:
    rows = connection.execute(
        "SELECT subject FROM subject_version WHERE substr(subject, 1, length(?)) = ?"
        f" GROUP BY subject HAVING {_SUBJECTS_SHOWN[shown]} ORDER BY subject",
        (prefix, prefix),
    )
    return [row[0] for row in rows]


def _view(connection: sqlite3.Connection, subject: str) -> SubjectView:
    own, general = _subject_row(connection, subject), _subject_row(connection, GLOBAL_SUBJECT)
    rows = connection.execute(
        "SELECT v.version, v.schema_id, s.guid, v.deleted FROM subject_version v"
        " JOIN registered_schema s ON s.id = v.schema_id WHERE v.subject = ? ORDER BY v.version",
        (subject,),
    )
    return SubjectView(
        moment=(own[0], general[0]),
        own=settings_of(own),
        general=settings_of(general),
        versions=tuple(VersionEntry(version, id, guid, bool(deleted)) for version, id, guid, deleted in rows),
    )


def _subject_row(connection: sqlite3.Connection, subject: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(
        "SELECT changes, compatibility, mode, normalize FROM subject WHERE name = ?", (subject,)
    ).fetchone()
    return row or (0, None, None, None)


def _subject_versions(
    connection: sqlite3.Connection, prefix: str, shown: Shown, latest_only: bool, offset: int, limit: int
) -> list[SubjectVersion]:
    newest = (
        " AND v.version = (SELECT max(o.version) FROM subject_version o WHERE o.subject = v.subject"
        f" AND {_SHOWN[shown].replace('v.', 'o.')})"
    )
    rows = connection.execute(
        f"{_VERSION} WHERE substr(v.subject, 1, length(?)) = ? AND {_SHOWN[shown]}{newest if latest_only else ''}"
        " ORDER BY v.subject, v.version LIMIT ? OFFSET ?",
        (prefix, prefix, limit, offset),
    )
    return [version_of(row) for row in rows]


def _version(connection: sqlite3.Connection, key: VersionKey) -> SubjectVersion | None:
    row = connection.execute(f"{_VERSION} WHERE v.subject = ? AND v.version = ?", key).fetchone()
    return None if row is None else version_of(row)


def _schemas(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, StoredSchema]:
    rows = connection.execute(
        f"SELECT {_SCHEMA} FROM registered_schema s WHERE s.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return {row[0]: schema_of(row) for row in rows}


def _schema_by_guid(connection: sqlite3.Connection, guid: str) -> StoredSchema | None:
    row = connection.execute(f"SELECT {_SCHEMA} FROM registered_schema s WHERE s.guid = ?", (guid,)).fetchone()
    return None if row is None else schema_of(row)


def _next_id(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT next_schema_id FROM registry").fetchone()[0])


def _versions_of_schema(connection: sqlite3.Connection, id: int, shown: Shown) -> list[VersionKey]:
    rows = connection.execute(
        f"SELECT v.subject, v.version FROM subject_version v WHERE v.schema_id = ? AND {_SHOWN[shown]} ORDER BY 1, 2",
        (id,),
    )
    return [VersionKey(*row) for row in rows]


def _referrers(connection: sqlite3.Connection, key: VersionKey, shown: Shown) -> list[int]:
    rows = connection.execute(
        "SELECT DISTINCT r.schema_id FROM schema_reference r JOIN subject_version v ON v.schema_id = r.schema_id"
        f" WHERE r.subject = ? AND r.version = ? AND {_SHOWN[shown]} ORDER BY 1",
        key,
    )
    return [row[0] for row in rows]


# --- writing -----------------------------------------------------------------------------------


def _register(connection: sqlite3.Connection, new: NewVersion, now_ms: int) -> SubjectVersion:
    own, general = _subject_row(connection, new.subject), _subject_row(connection, GLOBAL_SUBJECT)
    must_be_current(new, (own[0], general[0]))
    for reference in new.body.references:
        must_lead_somewhere(reference, _is_deleted(connection, VersionKey(reference.subject, reference.version)))
    id = _keep_schema(connection, new)
    version = version_for(new, _versions(connection, new.subject))
    connection.execute("INSERT INTO subject_version VALUES (?, ?, ?, 0, ?)", (new.subject, version, id, now_ms))
    _note_change(connection, new.subject)
    schema = StoredSchema(id=id, body=new.body)
    return SubjectVersion(subject=new.subject, version=version, schema=schema, deleted=False)


def _is_deleted(connection: sqlite3.Connection, key: VersionKey) -> bool | None:
    row = connection.execute("SELECT deleted FROM subject_version WHERE subject = ? AND version = ?", key).fetchone()
    return None if row is None else bool(row[0])


def _keep_schema(connection: sqlite3.Connection, new: NewVersion) -> int:
    body, next_id = new.body, _next_id(connection)
    existing = _schema_by_guid(connection, body.guid)
    taken = connection.execute("SELECT 1 FROM registered_schema WHERE id = ?", (new.id,)).fetchone() is not None
    id = id_for(new, None if existing is None else existing.id, taken=taken, next_id=next_id)
    if existing is not None:
        return id
    connection.execute(
        "INSERT INTO registered_schema VALUES (?, ?, ?, ?, ?)",
        (id, body.guid, body.format.value, body.text, written_references(body.references)),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO schema_reference VALUES (?, ?, ?)",
        [(id, reference.subject, reference.version) for reference in body.references],
    )
    connection.execute("UPDATE registry SET next_schema_id = ?", (max(next_id, id + 1),))
    return id


def _versions(connection: sqlite3.Connection, subject: str) -> dict[int, bool]:
    rows = connection.execute("SELECT version, deleted FROM subject_version WHERE subject = ?", (subject,))
    return {version: bool(deleted) for version, deleted in rows}


def _delete_version(connection: sqlite3.Connection, key: VersionKey, permanent: bool) -> None:
    must_be_deletable(key, _versions(connection, key.subject), permanent=permanent)
    _delete(connection, key.subject, [key.version], permanent)


def _delete_subject(connection: sqlite3.Connection, subject: str, permanent: bool) -> list[int]:
    versions = deletable_versions(subject, _versions(connection, subject), permanent=permanent)
    _delete(connection, subject, versions, permanent)
    connection.execute(
        "UPDATE subject SET compatibility = NULL, mode = NULL, normalize = NULL WHERE name = ?", (subject,)
    )
    return versions


def _delete(connection: sqlite3.Connection, subject: str, versions: Sequence[int], permanent: bool) -> None:
    for version in versions:
        key = VersionKey(subject, version)
        must_not_be_referred(key, _referrers(connection, key, Shown.ALL if permanent else Shown.LIVE))
        (_remove if permanent else _hide)(connection, key)
    _note_change(connection, subject)


def _hide(connection: sqlite3.Connection, key: VersionKey) -> None:
    connection.execute("UPDATE subject_version SET deleted = 1 WHERE subject = ? AND version = ?", key)


def _remove(connection: sqlite3.Connection, key: VersionKey) -> None:
    """The version; and its schema, if no other version has it."""
    (id,) = connection.execute(
        "DELETE FROM subject_version WHERE subject = ? AND version = ? RETURNING schema_id", key
    ).fetchone()
    if not _versions_of_schema(connection, id, Shown.ALL):
        connection.execute("DELETE FROM registered_schema WHERE id = ?", (id,))
        connection.execute("DELETE FROM schema_reference WHERE schema_id = ?", (id,))


def _note_change(connection: sqlite3.Connection, subject: str) -> None:
    connection.execute(
        "INSERT INTO subject (name, changes) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET changes = changes + 1",
        (subject,),
    )


def _set_compatibility(
    connection: sqlite3.Connection, subject: str, level: Compatibility | None, normalize: bool | None
) -> None:
    _note_change(connection, subject)
    connection.execute(
        "UPDATE subject SET compatibility = ?, normalize = ? WHERE name = ?",
        (None if level is None else level.value, normalize, subject),
    )


def _set_mode(connection: sqlite3.Connection, subject: str, mode: Mode | None, force: bool) -> None:
    if mode is Mode.IMPORT:
        (live,) = connection.execute(
            "SELECT count(*) FROM subject_version WHERE deleted = 0 AND (? = '' OR subject = ?)", (subject, subject)
        ).fetchone()
        must_be_empty_for_import(subject, live, force=force)
    _note_change(connection, subject)
    connection.execute("UPDATE subject SET mode = ? WHERE name = ?", (None if mode is None else mode.value, subject))
