"""RegistryStore: the metadata store's verbs for the schema registry, each of them one transaction.

    subject_view -> (parse, compare: no transaction is held) -> register, if nothing has changed since

Registration is optimistic. A view has a moment; a version that was judged against an earlier moment is refused with
SubjectChanged. So schemas of any size are compared without a lock. Ids rise by one from 1 and are never given twice; a
schema that is registered anywhere keeps its id.
"""

from collections.abc import Sequence
from typing import Protocol

from lakestream.model.registry import (
    Compatibility,
    Mode,
    NewVersion,
    Shown,
    StoredSchema,
    SubjectSettings,
    SubjectVersion,
    SubjectView,
    VersionKey,
)


class RegistryStore(Protocol):
    # --- reading -------------------------------------------------------------------------------

    async def subjects(self, prefix: str, shown: Shown) -> list[str]:
        """Subjects with versions of this kind, by name. DELETED: subjects that have deleted versions alone."""
        ...

    async def subject_view(self, subject: str) -> SubjectView:
        """All versions, including deleted ones, and the settings in force. An unknown subject is an empty view."""
        ...

    async def subject_versions(
        self, prefix: str, shown: Shown, *, latest_only: bool, offset: int, limit: int
    ) -> list[SubjectVersion]:
        """Versions of the subjects with this prefix, by subject and version; at most `limit`, after the first
        `offset`."""
        ...

    async def version(self, key: VersionKey) -> SubjectVersion | None:
        """The version, deleted or not."""
        ...

    async def schemas(self, ids: Sequence[int]) -> dict[int, StoredSchema]:
        """The schemas that exist among these ids."""
        ...

    async def schema_by_guid(self, guid: str) -> StoredSchema | None: ...

    async def schema_id_max(self) -> int:
        """The greatest id given so far; 0 if none was."""
        ...

    async def versions_of_schema(self, id: int, shown: Shown) -> list[VersionKey]:
        """Where the schema is registered, by subject and version."""
        ...

    async def referrers(self, key: VersionKey) -> list[int]:
        """Ids of schemas with a live version that refer to this one, in order."""
        ...

    # --- writing -------------------------------------------------------------------------------

    async def register(self, new: NewVersion) -> SubjectVersion:
        """Raises SubjectChanged; InvalidSchema if a reference was deleted meanwhile; IdMismatch or NotPermitted if an
        import's id or version is taken by something else."""
        ...

    async def delete_version(self, key: VersionKey, *, permanent: bool) -> None:
        """Hide it, or remove it once hidden. Raises UnknownSubject, UnknownVersion, VersionDeleted, VersionNotDeleted,
        ReferenceExists."""
        ...

    async def delete_subject(self, subject: str, *, permanent: bool) -> list[int]:
        """Do the same to all versions of a subject at once, and return them. Raises UnknownSubject, SubjectDeleted,
        SubjectNotDeleted, ReferenceExists."""
        ...

    # --- settings; of all subjects under the name GLOBAL_SUBJECT -------------------------------

    async def settings(self, subject: str) -> SubjectSettings:
        """The subject's own settings; empty if it is unknown."""
        ...

    async def set_compatibility(self, subject: str, level: Compatibility | None, normalize: bool | None) -> None: ...

    async def set_mode(self, subject: str, mode: Mode | None, *, force: bool) -> None:
        """Raises NotPermitted for IMPORT if there are live versions already, unless forced."""
        ...
