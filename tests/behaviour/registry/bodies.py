"""Schemas, as short as they get."""

from lakestream.metadata.registry_store import RegistryStore
from lakestream.model.registry import NewVersion, SchemaBody, SchemaFormat, SchemaReference, SubjectVersion
from lakestream.world.ids import derived_uuid


def body(text: str, *references: SchemaReference) -> SchemaBody:
    guid = derived_uuid(f"{text} {references}")
    return SchemaBody(guid=guid, format=SchemaFormat.AVRO, text=text, references=references)


async def registered(
    store: RegistryStore, subject: str, text: str, *references: SchemaReference, **given: int
) -> SubjectVersion:
    view = await store.subject_view(subject)
    return await store.register(NewVersion(subject=subject, moment=view.moment, body=body(text, *references), **given))
