"""Convert rows of the registry's tables to values, the same for both stores."""

import json
from collections.abc import Sequence
from typing import Any

from lakestream.model.registry import (
    Compatibility,
    Mode,
    SchemaBody,
    SchemaFormat,
    SchemaReference,
    StoredSchema,
    SubjectSettings,
    SubjectVersion,
)

Row = tuple[Any, ...]


def schema_of(row: Row) -> StoredSchema:
    """Columns: id, guid, format, text, references"""
    id, guid, format, text, references = row
    body = SchemaBody(
        guid=guid,
        format=SchemaFormat(format),
        text=text,
        references=tuple(SchemaReference(*reference) for reference in json.loads(references)),
    )
    return StoredSchema(id=id, body=body)


def version_of(row: Row) -> SubjectVersion:
    """Columns: subject, version, deleted, then the schema's"""
    subject, version, deleted, *schema = row
    return SubjectVersion(subject=subject, version=version, schema=schema_of(tuple(schema)), deleted=bool(deleted))


def settings_of(row: Row) -> SubjectSettings:
    """Columns: changes, compatibility, mode, normalize"""
    _, compatibility, mode, normalize = row
    return SubjectSettings(
        compatibility=None if compatibility is None else Compatibility(compatibility),
        mode=None if mode is None else Mode(mode),
        normalize=None if normalize is None else bool(normalize),
    )


def written_references(references: Sequence[SchemaReference]) -> str:
    return json.dumps([list(reference) for reference in references], ensure_ascii=False)
