"""Deletes schemas and changes the settings of subjects. A read-only subject allows only a change of its mode."""

from lakestream.metadata.registry_store import RegistryStore
from lakestream.metadata.rules.registry_rules import unknown_subject
from lakestream.model.registry import (
    GLOBAL_SUBJECT,
    Compatibility,
    Mode,
    SubjectSettings,
    SubjectView,
    VersionKey,
)
from lakestream.model.registry_errors import CompatibilityNotSet, ModeNotSet, NotPermitted


class SubjectAdministration:
    def __init__(self, store: RegistryStore) -> None:
        self._store = store

    # --- deleting ------------------------------------------------------------------------------

    async def delete_version(self, subject: str, version: int | None, *, permanent: bool) -> int:
        """Delete a version (None: the latest) and return its number. Raises the store's errors, and NotPermitted."""
        view = await self._writable(subject)
        if version is None:
            shown = view.versions if permanent else view.live
            if not shown:
                raise unknown_subject(subject)
            version = shown[-1].version
        await self._store.delete_version(VersionKey(subject, version), permanent=permanent)
        return version

    async def delete_subject(self, subject: str, *, permanent: bool) -> list[int]:
        """Delete all versions and return their numbers."""
        await self._writable(subject)
        return await self._store.delete_subject(subject, permanent=permanent)

    # --- settings; GLOBAL_SUBJECT stands for all subjects -----------------------------------------

    async def compatibility(self, subject: str, *, or_general: bool) -> SubjectSettings:
        """Raises CompatibilityNotSet, unless `or_general`."""
        view = await self._store.subject_view(subject)
        if subject == GLOBAL_SUBJECT or or_general:
            return SubjectSettings(compatibility=view.compatibility, normalize=view.normalize or None)
        if view.own.compatibility is None and view.own.normalize is None:
            raise CompatibilityNotSet(f"Subject '{subject}' does not have subject-level compatibility configured")
        return view.own

    async def set_compatibility(self, subject: str, level: Compatibility | None, normalize: bool | None) -> None:
        """Set both; None leaves a setting unchanged."""
        own = (await self._writable(subject)).own
        await self._store.set_compatibility(
            subject, level or own.compatibility, own.normalize if normalize is None else normalize
        )

    async def unset_compatibility(self, subject: str) -> SubjectSettings:
        """Return to the general setting. Returns the former one. Raises UnknownSubject if the subject had none of its
        own."""
        view = await self._writable(subject)
        if subject != GLOBAL_SUBJECT and view.own.compatibility is None and view.own.normalize is None:
            raise unknown_subject(subject)
        await self._store.set_compatibility(subject, None, None)
        return SubjectSettings(compatibility=view.compatibility, normalize=view.own.normalize)

    async def mode(self, subject: str, *, or_general: bool) -> Mode:
        """Raises ModeNotSet, unless `or_general`."""
        view = await self._store.subject_view(subject)
        if view.own.mode is None and subject != GLOBAL_SUBJECT and not or_general:
            raise ModeNotSet(f"Subject '{subject}' does not have subject-level mode configured")
        return view.mode

    async def set_mode(self, subject: str, mode: Mode, *, force: bool) -> None:
        await self._store.set_mode(subject, mode, force=force)

    async def unset_mode(self, subject: str) -> Mode:
        """Return to the general mode. Returns the former one. Raises UnknownSubject if the subject had none of its
        own."""
        view = await self._store.subject_view(subject)
        if subject != GLOBAL_SUBJECT and view.own.mode is None:
            raise unknown_subject(subject)
        await self._store.set_mode(subject, None, force=False)
        return view.mode

    async def _writable(self, subject: str) -> SubjectView:
        view = await self._store.subject_view(subject)
        if view.mode is Mode.READONLY:
            whose = "The registry" if subject == GLOBAL_SUBJECT else f"Subject {subject}"
            raise NotPermitted(f"{whose} is in read-only mode")
        return view
