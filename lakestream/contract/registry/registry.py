"""The schema registry: registers schemas, and finds, compares and lists their versions.

    register:  resolve references -> parse -> known already? -> compare with earlier versions, and tables -> store

Parsing and comparing run in threads and outside of any transaction. If the subject changes meanwhile, the schema is
checked again; within one process registrations to a subject run one after another.
"""

import asyncio
from functools import partial
from weakref import WeakValueDictionary

from lakestream.contract.registry.checking import RegistrationChecks
from lakestream.contract.registry.following import Followers, NoFollowers
from lakestream.contract.registry.levels import held_against
from lakestream.contract.registry.limits import REGISTER_ATTEMPTS_MAX, SCHEMA_ID_MAX
from lakestream.contract.registry.names import checked_subject
from lakestream.contract.registry.resolving import References
from lakestream.contract.registry.submitted import Submitted, Understood, in_form, understood
from lakestream.metadata.registry_store import RegistryStore
from lakestream.metadata.rules.registry_rules import unknown_subject, unknown_version
from lakestream.model.registry import (
    Mode,
    NewVersion,
    SchemaBody,
    StoredSchema,
    SubjectVersion,
    SubjectView,
    VersionEntry,
    VersionKey,
)
from lakestream.model.registry_errors import (
    IdMismatch,
    IncompatibleSchema,
    NotPermitted,
    SubjectChanged,
    UnknownSchema,
)
from lakestream.world.threads import Threads


class Registry:
    def __init__(self, *, store: RegistryStore, threads: Threads, followers: Followers | None = None) -> None:
        self._store = store
        self._followers = followers or NoFollowers()
        self._threads = threads
        self._references = References(store)
        self._checks = RegistrationChecks(store=store, references=self._references, threads=threads)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    # --- registering ---------------------------------------------------------------------------

    async def register(self, subject: str, submitted: Submitted, *, normalize: bool = False) -> SubjectVersion:
        """The version that has this schema; a new one if there was none. Raises IncompatibleSchema, InvalidSchema,
        NotPermitted, IdMismatch."""
        checked_subject(subject)
        turn = self._turns.setdefault(subject, asyncio.Lock())
        async with turn:
            for _ in range(REGISTER_ATTEMPTS_MAX - 1):
                try:
                    return await self._attempt(subject, submitted, normalize)
                except SubjectChanged:
                    continue
            return await self._attempt(subject, submitted, normalize)

    async def judged(
        self, subject: str, submitted: Submitted, *, normalize: bool = False
    ) -> SubjectVersion | NewVersion:
        """The version that has this schema already, or the one to register, which is not stored yet. Raises as
        `register` does."""
        view = await self._store.subject_view(checked_subject(subject))
        new = await self._understood(submitted, normalize=normalize or view.normalize)
        known = _with_schema(view, new)
        if known is not None and not known.deleted:
            return _known_version(subject, submitted, known, new)
        _must_be_writable(subject, submitted, view.mode)
        if view.mode is not Mode.IMPORT:
            await self._must_be_compatible(subject, new, view)
        return NewVersion(
            subject=subject, moment=view.moment, body=new.body, id=submitted.id, version=submitted.version
        )

    async def _attempt(self, subject: str, submitted: Submitted, normalize: bool) -> SubjectVersion:
        judged = await self.judged(subject, submitted, normalize=normalize)
        return await self._store.register(judged) if isinstance(judged, NewVersion) else judged

    async def _must_be_compatible(self, subject: str, new: Understood, view: SubjectView) -> None:
        level = view.compatibility
        reasons = await self._checks.reasons(new, level, held_against(level, view.live))
        reasons += await self._followers.reasons(subject, new, view)
        if reasons:
            raise IncompatibleSchema(
                f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: '
                f"[{'; '.join(reasons)}; compatibility: {level.value}]",
                reasons,
            )

    async def _understood(self, submitted: Submitted, *, normalize: bool) -> Understood:
        submitted.must_be_bounded()
        references = await self._references.pinned(submitted.references)
        referred = await self._references.referred(references, submitted.format)
        pinned = Submitted(format=submitted.format, text=submitted.text, references=references)
        return await self._threads.run(partial(understood, pinned, referred, normalize=normalize))

    # --- asking --------------------------------------------------------------------------------

    async def lookup(
        self, subject: str, submitted: Submitted, *, normalize: bool = False, deleted: bool = False
    ) -> SubjectVersion:
        """The version of the subject that has this schema. Raises UnknownSubject, UnknownSchema."""
        view = await self._store.subject_view(subject)
        if not (view.versions if deleted else view.live):
            raise unknown_subject(subject)
        new = await self._understood(submitted, normalize=normalize or view.normalize)
        known = _with_schema(view, new)
        if known is None or (known.deleted and not deleted):
            raise UnknownSchema("Schema not found")
        schema = StoredSchema(id=known.schema_id, body=new.body)
        return SubjectVersion(subject=subject, version=known.version, schema=schema, deleted=known.deleted)

    async def reasons(
        self, subject: str, submitted: Submitted, *, version: int | None, all: bool = False, normalize: bool = False
    ) -> list[str]:
        """Why the schema would break the version (None: the latest), or those that its level names (`all`), and why a
        table could not follow it; empty if it would not. Raises UnknownVersion, InvalidSchema."""
        view = await self._store.subject_view(checked_subject(subject))
        new = await self._understood(submitted, normalize=normalize or view.normalize)
        if all:
            versions = held_against(view.compatibility, view.live)
        elif version is None:
            versions = list(view.live[-1:])
        else:
            versions = [entry for entry in view.live if entry.version == version]
            if not versions:
                raise unknown_version(version)
        reasons = await self._checks.reasons(new, view.compatibility, versions)
        return reasons + await self._followers.reasons(subject, new, view)

    async def version(self, subject: str, version: int | None, *, deleted: bool = False) -> SubjectVersion:
        """None: the latest. Raises UnknownSubject, UnknownVersion."""
        number = version or await self._latest(subject, deleted=deleted)
        found = await self._store.version(VersionKey(subject, number))
        if found is not None and (deleted or not found.deleted):
            return found
        view = await self._store.subject_view(subject)
        if not (view.versions if deleted else view.live):
            raise unknown_subject(subject)
        raise unknown_version(number)

    async def _latest(self, subject: str, *, deleted: bool) -> int:
        view = await self._store.subject_view(subject)
        shown = view.versions if deleted else view.live
        if not shown:
            raise unknown_subject(subject)
        return shown[-1].version

    async def schema(self, id: int) -> StoredSchema:
        """Raises UnknownSchema."""
        found = await self._store.schemas([id]) if 0 < id <= SCHEMA_ID_MAX else {}
        if id not in found:
            raise UnknownSchema(f"Schema {id} not found")
        return found[id]

    async def schema_by_guid(self, guid: str) -> StoredSchema:
        """Raises UnknownSchema."""
        found = await self._store.schema_by_guid(guid)
        if found is None:
            raise UnknownSchema(f"Schema {guid:.64} not found")
        return found

    async def in_form(self, body: SchemaBody, form: str) -> SchemaBody:
        """The schema in the form that a client asks for; '' is the stored one. Raises InvalidSchema."""
        if not form:
            return body
        referred = await self._references.referred(body.references, body.format)
        return await self._threads.run(partial(in_form, body, referred, form))


def _with_schema(view: SubjectView, new: Understood) -> VersionEntry | None:
    """The newest live version that has this schema, or else the newest deleted one."""
    same = [entry for entry in view.versions if entry.guid == new.body.guid]
    return max(same, key=lambda entry: (not entry.deleted, entry.version), default=None)


def _known_version(subject: str, submitted: Submitted, known: VersionEntry, new: Understood) -> SubjectVersion:
    if submitted.id not in (None, known.schema_id):
        raise IdMismatch(f"Schema already registered with id {known.schema_id} instead of input id {submitted.id}")
    schema = StoredSchema(id=known.schema_id, body=new.body)
    return SubjectVersion(subject=subject, version=known.version, schema=schema, deleted=False)


def _must_be_writable(subject: str, submitted: Submitted, mode: Mode) -> None:
    if mode is Mode.READONLY:
        raise NotPermitted(f"Subject {subject} is in read-only mode")
    if submitted.id is not None and mode is not Mode.IMPORT:
        raise NotPermitted(f"Subject {subject} is not in import mode: only there can ids be chosen")
    if submitted.id is None and mode is Mode.IMPORT:
        raise NotPermitted(f"Subject {subject} is not in read-write mode: while importing, schemas come with their ids")
