"""The verbs of schemas, subjects and versions.

Every write first locks the registry's one row: writes are rare and run one after another. Reads see committed data. A
view reads its moment before its versions, so that a registration judged against a mixture is refused, not accepted.
"""

from collections.abc import Sequence

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
from lakestream.metadata.verbs.running import Verbs, reads, transacts
from lakestream.metadata.verbs.steps import Row, Steps, all_rows, changed, lock, maybe_row, one_row
from lakestream.model.registry import (
    GLOBAL_SUBJECT,
    Compatibility,
    ForeseenVersion,
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
from lakestream.model.registry_errors import SubjectChanged
from lakestream.model.table_errors import CommitConflict

_SCHEMA = "s.id, s.guid, s.format, s.text, s.refs"
_VERSION = (
    f"SELECT v.subject, v.version, v.deleted, {_SCHEMA}"
    " FROM subject_version v JOIN registered_schema s ON s.id = v.schema_id"
)
_SHOWN = {Shown.LIVE: "v.deleted = 0", Shown.DELETED: "v.deleted = 1", Shown.ALL: "TRUE"}
_SUBJECTS_SHOWN = {Shown.LIVE: "min(deleted) = 0", Shown.DELETED: "min(deleted) = 1", Shown.ALL: "TRUE"}


class RegistryVerbs(Verbs):
    """The RegistryStore of both stores."""

    # --- reading -------------------------------------------------------------------------------

    @reads
    def subjects(self, prefix: str, shown: Shown) -> Steps[list[str]]:
        rows = yield from all_rows(
            "SELECT subject FROM subject_version WHERE starts_with(subject, :prefix)"
            f" GROUP BY subject HAVING {_SUBJECTS_SHOWN[shown]} ORDER BY subject",
            prefix=prefix,
        )
        return [row[0] for row in rows]

    @reads
    def subject_view(self, subject: str) -> Steps[SubjectView]:
        own = yield from _subject_row(subject)
        general = yield from _subject_row(GLOBAL_SUBJECT)
        rows = yield from all_rows(
            "SELECT v.version, v.schema_id, s.guid, v.deleted FROM subject_version v"
            " JOIN registered_schema s ON s.id = v.schema_id WHERE v.subject = :subject ORDER BY v.version",
            subject=subject,
        )
        return SubjectView(
            moment=(own[0], general[0]),
            own=settings_of(own),
            general=settings_of(general),
            versions=tuple(VersionEntry(version, id, guid, bool(deleted)) for version, id, guid, deleted in rows),
        )

    @reads
    def subject_versions(
        self, prefix: str, shown: Shown, *, latest_only: bool, offset: int, limit: int
    ) -> Steps[list[SubjectVersion]]:
        newest = (
            " AND v.version = (SELECT max(o.version) FROM subject_version o WHERE o.subject = v.subject"
            f" AND {_SHOWN[shown].replace('v.', 'o.')})"
        )
        rows = yield from all_rows(
            f"{_VERSION} WHERE starts_with(v.subject, :prefix) AND {_SHOWN[shown]}{newest if latest_only else ''}"
            " ORDER BY v.subject, v.version LIMIT :limit OFFSET :offset",
            prefix=prefix,
            limit=limit,
            offset=offset,
        )
        return [version_of(row) for row in rows]

    @reads
    def version(self, key: VersionKey) -> Steps[SubjectVersion | None]:
        row = yield from maybe_row(f"{_VERSION} WHERE v.subject = :subject AND v.version = :version", **key._asdict())
        return None if row is None else version_of(row)

    @reads
    def schemas(self, ids: Sequence[int]) -> Steps[dict[int, StoredSchema]]:
        rows = yield from all_rows(f"SELECT {_SCHEMA} FROM registered_schema s WHERE s.id = ANY (:ids)", ids=list(ids))
        return {row[0]: schema_of(row) for row in rows}

    @reads
    def schema_by_guid(self, guid: str) -> Steps[StoredSchema | None]:
        return (yield from _schema_by_guid(guid))

    @reads
    def schema_id_max(self) -> Steps[int]:
        return (yield from _next_id()) - 1

    @reads
    def versions_of_schema(self, id: int, shown: Shown) -> Steps[list[VersionKey]]:
        return (yield from _versions_of_schema(id, shown))

    @reads
    def referrers(self, key: VersionKey) -> Steps[list[int]]:
        return (yield from _referrers(key, Shown.LIVE))

    # --- writing -------------------------------------------------------------------------------

    @transacts
    def register(self, new: NewVersion) -> Steps[SubjectVersion]:
        return (yield from _register(new))

    @transacts
    def delete_version(self, key: VersionKey, *, permanent: bool) -> Steps[None]:
        yield from _wait_for_turn()
        must_be_deletable(key, (yield from _versions(key.subject)), permanent=permanent)
        yield from _delete(key.subject, [key.version], permanent)

    @transacts
    def delete_subject(self, subject: str, *, permanent: bool) -> Steps[list[int]]:
        yield from _wait_for_turn()
        versions = deletable_versions(subject, (yield from _versions(subject)), permanent=permanent)
        yield from _delete(subject, versions, permanent)
        yield from changed(
            "UPDATE subject SET compatibility = NULL, mode = NULL, normalize = NULL WHERE name = :subject",
            subject=subject,
        )
        return versions

    # --- settings ------------------------------------------------------------------------------

    @reads
    def settings(self, subject: str) -> Steps[SubjectSettings]:
        return settings_of((yield from _subject_row(subject)))

    @transacts
    def set_compatibility(self, subject: str, level: Compatibility | None, normalize: bool | None) -> Steps[None]:
        yield from _wait_for_turn()
        yield from _note_change(subject)
        yield from changed(
            "UPDATE subject SET compatibility = :level, normalize = :normalize WHERE name = :subject",
            level=None if level is None else level.value,
            normalize=None if normalize is None else int(normalize),
            subject=subject,
        )

    @transacts
    def set_mode(self, subject: str, mode: Mode | None, *, force: bool) -> Steps[None]:
        yield from _wait_for_turn()
        if mode is Mode.IMPORT:
            (live,) = yield from one_row(
                "SELECT count(*) FROM subject_version WHERE deleted = 0 AND (:subject = '' OR subject = :subject)",
                subject=subject,
            )
            must_be_empty_for_import(subject, live, force=force)
        yield from _note_change(subject)
        yield from changed(
            "UPDATE subject SET mode = :mode WHERE name = :subject",
            mode=None if mode is None else mode.value,
            subject=subject,
        )


def register_foreseen(foreseen: ForeseenVersion) -> Steps[None]:
    """Register a version within a transaction that changes a table as well. Raises CommitConflict if it has to be
    judged again, or its schema would get another id; InvalidSchema if a reference was deleted meanwhile."""
    try:
        made = yield from _register(foreseen.version)
    except SubjectChanged as error:
        raise CommitConflict(str(error)) from None
    if made.schema.id != foreseen.schema_id:
        raise CommitConflict(f"schema id {foreseen.schema_id} was given to another schema meanwhile: repeat the change")


def _register(new: NewVersion) -> Steps[SubjectVersion]:
    yield from _wait_for_turn()
    own = yield from _subject_row(new.subject)
    general = yield from _subject_row(GLOBAL_SUBJECT)
    must_be_current(new, (own[0], general[0]))
    for reference in new.body.references:
        deleted = yield from _is_deleted(VersionKey(reference.subject, reference.version))
        must_lead_somewhere(reference, deleted)
    id = yield from _keep_schema(new)
    version = version_for(new, (yield from _versions(new.subject)))
    yield from changed(
        "INSERT INTO subject_version VALUES (:subject, :version, :id, 0, now_ms())",
        subject=new.subject,
        version=version,
        id=id,
    )
    yield from _note_change(new.subject)
    schema = StoredSchema(id=id, body=new.body)
    return SubjectVersion(subject=new.subject, version=version, schema=schema, deleted=False)


def _wait_for_turn() -> Steps[None]:
    yield from lock("SELECT 1 FROM registry FOR UPDATE")


def _subject_row(subject: str) -> Steps[Row]:
    row = yield from maybe_row(
        "SELECT changes, compatibility, mode, normalize FROM subject WHERE name = :subject", subject=subject
    )
    return row or (0, None, None, None)


def _schema_by_guid(guid: str) -> Steps[StoredSchema | None]:
    row = yield from maybe_row(f"SELECT {_SCHEMA} FROM registered_schema s WHERE s.guid = :guid", guid=guid)
    return None if row is None else schema_of(row)


def _next_id() -> Steps[int]:
    (next_id,) = yield from one_row("SELECT next_schema_id FROM registry")
    return int(next_id)


def _versions_of_schema(id: int, shown: Shown) -> Steps[list[VersionKey]]:
    rows = yield from all_rows(
        f"SELECT v.subject, v.version FROM subject_version v WHERE v.schema_id = :id AND {_SHOWN[shown]} ORDER BY 1, 2",
        id=id,
    )
    return [VersionKey(*row) for row in rows]


def _referrers(key: VersionKey, shown: Shown) -> Steps[list[int]]:
    rows = yield from all_rows(
        "SELECT DISTINCT r.schema_id FROM schema_reference r JOIN subject_version v ON v.schema_id = r.schema_id"
        f" WHERE r.subject = :subject AND r.version = :version AND {_SHOWN[shown]} ORDER BY 1",
        **key._asdict(),
    )
    return [row[0] for row in rows]


def _is_deleted(key: VersionKey) -> Steps[bool | None]:
    row = yield from maybe_row(
        "SELECT deleted FROM subject_version WHERE subject = :subject AND version = :version", **key._asdict()
    )
    return None if row is None else bool(row[0])


def _versions(subject: str) -> Steps[dict[int, bool]]:
    rows = yield from all_rows("SELECT version, deleted FROM subject_version WHERE subject = :subject", subject=subject)
    return {version: bool(deleted) for version, deleted in rows}


def _keep_schema(new: NewVersion) -> Steps[int]:
    body, next_id = new.body, (yield from _next_id())
    existing = yield from _schema_by_guid(body.guid)
    taken = yield from maybe_row("SELECT 1 FROM registered_schema WHERE id = :id", id=new.id)
    id = id_for(new, None if existing is None else existing.id, taken=taken is not None, next_id=next_id)
    if existing is not None:
        return id
    yield from changed(
        "INSERT INTO registered_schema VALUES (:id, :guid, :format, :text, :refs)",
        id=id,
        guid=body.guid,
        format=body.format.value,
        text=body.text,
        refs=written_references(body.references),
    )
    for subject, version in sorted({(reference.subject, reference.version) for reference in body.references}):
        yield from changed(
            "INSERT INTO schema_reference VALUES (:id, :subject, :version)", id=id, subject=subject, version=version
        )
    yield from changed("UPDATE registry SET next_schema_id = :next_id", next_id=max(next_id, id + 1))
    return id


def _delete(subject: str, versions: Sequence[int], permanent: bool) -> Steps[None]:
    for version in versions:
        key = VersionKey(subject, version)
        must_not_be_referred(key, (yield from _referrers(key, Shown.ALL if permanent else Shown.LIVE)))
        yield from (_remove if permanent else _hide)(key)
    yield from _note_change(subject)


def _hide(key: VersionKey) -> Steps[None]:
    yield from changed(
        "UPDATE subject_version SET deleted = 1 WHERE subject = :subject AND version = :version", **key._asdict()
    )


def _remove(key: VersionKey) -> Steps[None]:
    """Remove the version, and also its schema if no other version has it."""
    (id,) = yield from one_row(
        "DELETE FROM subject_version WHERE subject = :subject AND version = :version RETURNING schema_id",
        **key._asdict(),
    )
    if not (yield from _versions_of_schema(id, Shown.ALL)):
        yield from changed("DELETE FROM registered_schema WHERE id = :id", id=id)
        yield from changed("DELETE FROM schema_reference WHERE schema_id = :id", id=id)


def _note_change(subject: str) -> Steps[None]:
    yield from changed(
        "INSERT INTO subject (name, changes) VALUES (:subject, 1)"
        " ON CONFLICT (name) DO UPDATE SET changes = subject.changes + 1",
        subject=subject,
    )
