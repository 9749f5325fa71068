"""The schemas of a topic's values and keys in the registry: versions, compatibility, and how each differs from the
one before."""

from dataclasses import dataclass

from lakestream.administration.named_topics import named_topics
from lakestream.contract.topic.value_config import value_config_of
from lakestream.metadata.store import MetadataStore
from lakestream.model.registry import Compatibility, SchemaFormat, StoredSchema

VERSIONS_MAX = 50
"""The newest of each subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaVersionShown:
    version: int
    schema_id: int
    format: SchemaFormat
    text: str
    before: str | None
    """The text of the version before; None for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectShown:
    of: str
    """values or keys."""
    subject: str
    compatibility: Compatibility
    versions: tuple[SchemaVersionShown, ...]
    """Newest first; without deleted ones."""


class TopicSchemas:
    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    async def of(self, name: str) -> tuple[SubjectShown, ...]:
        """Raises UnknownTopic."""
        [topic] = await named_topics(self._store, [name])
        config = value_config_of(topic.name, topic.config)
        key_subject = config.key.subject if config.key else f"{topic.name}-key"
        return (await self._subject("values", config.subject), await self._subject("keys", key_subject))

    async def _subject(self, of: str, subject: str) -> SubjectShown:
        view = await self._store.registry.subject_view(subject)
        live = view.live[-VERSIONS_MAX:]
        schemas = await self._store.registry.schemas([entry.schema_id for entry in live])
        found = [(entry.version, schemas[entry.schema_id]) for entry in live if entry.schema_id in schemas]
        befores: list[str | None] = [None, *(schema.body.text for _, schema in found)]
        versions = [_shown(version, schema, before) for (version, schema), before in zip(found, befores, strict=False)]
        return SubjectShown(
            of=of, subject=subject, compatibility=view.compatibility, versions=tuple(reversed(versions))
        )


def _shown(version: int, schema: StoredSchema, before: str | None) -> SchemaVersionShown:
    return SchemaVersionShown(
        version=version, schema_id=schema.id, format=schema.body.format, text=schema.body.text, before=before
    )
