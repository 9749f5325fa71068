"""Values of the schema registry: schemas with ids, subjects with versions, and the rules that subjects set.

A schema is its text and its references; the same schema has one id, whichever subjects it is registered under.
A version is a subject's use of a schema. Deleting it hides it first (soft), then removes it (permanent).
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

GLOBAL_SUBJECT = ""
"""Its settings apply to all subjects without settings of their own. No subject has this name."""


class SchemaFormat(Enum):
    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


class Compatibility(Enum):
    """What a new version must not break. BACKWARD: new readers read old data; FORWARD: old readers read new data."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"


class Mode(Enum):
    """Which changes a subject allows. IMPORT: versions arrive unchecked with their ids, from another registry."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    IMPORT = "IMPORT"


class Shown(Enum):
    """Which versions a request covers."""

    LIVE = "live"
    ALL = "all"
    DELETED = "deleted"


class SchemaReference(NamedTuple):
    """`name` is how the referring schema names it: a full name (Avro), a URI (JSON Schema), an import (Protobuf)."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaBody:
    """A schema as it is stored. `guid` is derived from the other fields: it is the schema's identity."""

    guid: str
    format: SchemaFormat
    text: str
    references: tuple[SchemaReference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSchema:
    id: int
    body: SchemaBody


class VersionKey(NamedTuple):
    subject: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectVersion:
    subject: str
    version: int
    schema: StoredSchema
    deleted: bool


class VersionEntry(NamedTuple):
    """A version without its schema's text."""

    version: int
    schema_id: int
    guid: str
    deleted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectSettings:
    """None means not set here."""

    compatibility: Compatibility | None = None
    mode: Mode | None = None
    normalize: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectView:
    """A subject and its effective settings, as of one moment. `moment` changes when any of it does."""

    moment: tuple[int, int]
    own: SubjectSettings
    general: SubjectSettings
    versions: tuple[VersionEntry, ...]
    """By number, including deleted ones."""

    @property
    def live(self) -> tuple[VersionEntry, ...]:
        return tuple(entry for entry in self.versions if not entry.deleted)

    @property
    def compatibility(self) -> Compatibility:
        return self.own.compatibility or self.general.compatibility or Compatibility.BACKWARD

    @property
    def mode(self) -> Mode:
        return self.own.mode or self.general.mode or Mode.READWRITE

    @property
    def normalize(self) -> bool:
        return bool(self.general.normalize if self.own.normalize is None else self.own.normalize)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """A version to register, judged against `moment`. Only an import sets id and version."""

    subject: str
    moment: tuple[int, int]
    body: SchemaBody
    id: int | None = None
    version: int | None = None


class ForeseenVersion(NamedTuple):
    """A version to register together with a table that names its schema by the id that it will have."""

    version: NewVersion
    schema_id: int
