"""Which changes to versions and subjects are allowed, decided on rows, the same for both stores."""

from collections.abc import Mapping, Sequence

from lakestream.model.registry import GLOBAL_SUBJECT, NewVersion, SchemaReference, VersionKey
from lakestream.model.registry_errors import (
    IdMismatch,
    InvalidSchema,
    NotPermitted,
    ReferenceExists,
    SubjectChanged,
    SubjectDeleted,
    SubjectNotDeleted,
    UnknownSubject,
    UnknownVersion,
    VersionDeleted,
    VersionNotDeleted,
)

Versions = Mapping[int, bool]
"""A subject's versions, each with whether it is deleted."""


def must_be_current(new: NewVersion, moment: tuple[int, int]) -> None:
    if new.moment != moment:
        raise SubjectChanged(f"the subject '{new.subject}' has changed meanwhile: judge the schema anew")


def must_lead_somewhere(reference: SchemaReference, deleted: bool | None) -> None:
    """`deleted` is None if there is no such version."""
    if deleted is not False:
        raise InvalidSchema(
            f"the reference '{reference.name}' leads to version {reference.version} of '{reference.subject}', which "
            "does not exist or is deleted: register it first, or refer to another version"
        )


def id_for(new: NewVersion, existing: int | None, *, taken: bool, next_id: int) -> int:
    """`existing` is the id that the schema has already. `taken`: the import's id belongs to another schema."""
    if existing is not None:
        if new.id is not None and new.id != existing:
            raise IdMismatch(f"Schema already registered with id {existing} instead of input id {new.id}")
        return existing
    if new.id is None:
        return next_id
    if taken:
        raise NotPermitted(f"Overwrite new schema with id {new.id} is not permitted.")
    return new.id


def version_for(new: NewVersion, versions: Versions) -> int:
    if new.version is None:
        return max(versions, default=0) + 1
    if new.version in versions:
        raise NotPermitted(f"version {new.version} of '{new.subject}' exists and cannot be overwritten by an import")
    return new.version


def must_be_deletable(key: VersionKey, versions: Versions, *, permanent: bool) -> None:
    if not versions:
        raise unknown_subject(key.subject)
    if key.version not in versions:
        raise unknown_version(key.version)
    if versions[key.version] and not permanent:
        raise VersionDeleted(
            f"Subject '{key.subject}' Version {key.version} was soft deleted. Set permanent=true to delete permanently"
        )
    if permanent and not versions[key.version]:
        raise VersionNotDeleted(
            f"Subject '{key.subject}' Version {key.version} was not deleted first before being permanently deleted"
        )


def deletable_versions(subject: str, versions: Versions, *, permanent: bool) -> list[int]:
    """The versions that are deleted with the subject."""
    if not versions:
        raise unknown_subject(subject)
    live = [version for version, deleted in versions.items() if not deleted]
    if permanent and live:
        raise SubjectNotDeleted(f"Subject '{subject}' was not deleted first before being permanently deleted")
    if not permanent and not live:
        raise SubjectDeleted(f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently")
    return sorted(versions if permanent else live)


def must_not_be_referred(key: VersionKey, referrers: Sequence[int]) -> None:
    if referrers:
        ids = ", ".join(map(str, referrers))
        raise ReferenceExists(
            f"One or more references exist to version {key.version} of '{key.subject}': delete the versions of the "
            f"schemas with ids {ids} first"
        )


def must_be_empty_for_import(subject: str, live: int, *, force: bool) -> None:
    if live and not force:
        raise NotPermitted(
            "Cannot import since found existing subjects"
            if subject == GLOBAL_SUBJECT
            else f"Cannot import since found existing versions of subject '{subject}'"
        )


def unknown_subject(subject: str) -> UnknownSubject:
    return UnknownSubject(f"Subject '{subject}' not found.")


def unknown_version(version: int) -> UnknownVersion:
    return UnknownVersion(f"Version {version} not found.")
