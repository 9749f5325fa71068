"""Errors about schemas and subjects. Their kinds, with the advice, are those of errors.py."""

from collections.abc import Sequence

from lakestream.model.errors import Conflict, Exhausted, Invalid, NotFound


class UnknownSubject(NotFound):
    """No subject has this name, or all its versions are deleted."""


class UnknownVersion(NotFound):
    """The subject has no such version, or it is deleted."""


class UnknownSchema(NotFound):
    """No schema has this id, or the subject has no version with this schema."""


class SubjectDeleted(NotFound):
    """The subject is deleted already; it can be deleted permanently."""


class SubjectNotDeleted(NotFound):
    """The subject must be deleted before it can be deleted permanently."""


class VersionDeleted(NotFound):
    """The version is deleted already; it can be deleted permanently."""


class VersionNotDeleted(NotFound):
    """The version must be deleted before it can be deleted permanently."""


class CompatibilityNotSet(NotFound):
    """The subject has no compatibility level of its own."""


class ModeNotSet(NotFound):
    """The subject has no mode of its own."""


class IncompatibleSchema(Conflict):
    """The schema breaks an earlier version of its subject. `reasons` say where and why."""

    def __init__(self, message: str, reasons: Sequence[str]) -> None:
        super().__init__(message)
        self.reasons = tuple(reasons)


class SubjectChanged(Conflict):
    """The subject, or its effective settings, have changed since they were read. Judge the schema again."""


class InvalidSchema(Invalid):
    """A schema that its format does not allow, or a reference that leads nowhere."""


class InvalidVersion(Invalid):
    """Versions are counted from 1; the newest is `latest`."""


class InvalidCompatibility(Invalid):
    """No such compatibility level."""


class InvalidMode(Invalid):
    """No such mode."""


class NotPermitted(Invalid):
    """The subject's mode does not allow it."""


class ReferenceExists(Invalid):
    """Another schema refers to this version. Delete that one first."""


class IdMismatch(Invalid):
    """The schema is registered under another id."""


class InvalidSubject(Invalid):
    """A subject's name cannot be used."""


class UnsupportedRules(Invalid):
    """Rules and metadata of data contracts are not kept."""


class SchemaTooLarge(Exhausted):
    """The schema, or what it refers to, is larger than is allowed."""
