"""What the metadata store does for the schema registry: verbs, each of them one transaction.

    subject_view -> (parse, compare: no transaction is held) -> register, if nothing has changed since

Registration is optimistic: a view has a moment, and a version that was judged against a moment that has passed is
refused with SubjectChanged. So schemas of any size are compared without keeping anyone waiting.
Ids rise by one from 1 and are never given twice; a schema that is registered anywhere keeps its id.
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
        """Those with versions of this kind, by name. DELETED: those that have no others."""
        ...

    async def subject_view(self, subject: str) -> SubjectView:
        """All versions, deleted ones too, and the settings in force. A subject nobody knows is an empty view."""
        ...

    async def subject_versions(
        self, prefix: str, shown: Shown, *, latest_only: bool, offset: int, limit: int
    ) -> list[SubjectVersion]:
        """Of all subjects that begin so, by subject and version; at most `limit` from the `offset`-th on."""
        ...

    async def version(self, key: VersionKey) -> SubjectVersion | None:
        """Deleted or not."""
        ...

    async def schemas(self, ids: Sequence[int]) -> dict[int, StoredSchema]:
        """Those that exist."""
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
        """Raises SubjectChanged; InvalidSchema where a reference has gone meanwhile; IdMismatch, NotPermitted where an
        import's id or version is taken by something else."""
        ...

    async def delete_version(self, key: VersionKey, *, permanent: bool) -> None:
        """Hide it, or remove it once hidden. Raises UnknownSubject, UnknownVersion, VersionDeleted, VersionNotDeleted,
        ReferenceExists."""
        ...

    async def delete_subject(self, subject: str, *, permanent: bool) -> list[int]:
        """The same for all its versions at once; which these were. Raises UnknownSubject, SubjectDeleted,
        SubjectNotDeleted, ReferenceExists."""
        ...

    # --- settings; of all subjects under the name GLOBAL_SUBJECT -------------------------------

    async def settings(self, subject: str) -> SubjectSettings:
        """What is set on it; nothing where it is unknown."""
        ...

    async def set_compatibility(self, subject: str, level: Compatibility | None, normalize: bool | None) -> None: ...

    async def set_mode(self, subject: str, mode: Mode | None, *, force: bool) -> None:
        """Raises NotPermitted for IMPORT where there are live versions already, unless forced."""
        ...
