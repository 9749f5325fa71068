"""Writers from the registry: turns a schema id into the rules of its values and the columns that they want."""

from functools import partial
from typing import NamedTuple

from lakestream.contract.codecs.avro.codec import writer_of as avro_writer
from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.json.codec import CODEC_VERSION as JSON_VERSION
from lakestream.contract.codecs.protobuf.codec import writer_of as protobuf_writer
from lakestream.contract.columns import from_avro, from_json_schema, from_protobuf
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.json_schema.document import JsonSchema
from lakestream.contract.registry.limits import SCHEMA_ID_MAX
from lakestream.contract.registry.parsed import Referred
from lakestream.contract.registry.resolving import References
from lakestream.contract.registry.submitted import parsed_body
from lakestream.contract.topic.message import THE_FIRST, ProtobufMessage, name_of_message
from lakestream.metadata.registry_store import RegistryStore
from lakestream.model.errors import Exhausted, Invalid
from lakestream.model.registry import SchemaBody, SchemaFormat
from lakestream.world.threads import Threads

WRITERS_KEPT_MAX = 1_000
"""There are few schemas, but values name their message themselves, and may name anything."""


class RegisteredWriter(NamedTuple):
    writer: Writer
    wanted: tuple[Wanted, ...]
    json_schema: JsonSchema | None = None
    """The schema's further demands on values, if it is a JSON Schema."""


class RegisteredWriters:
    def __init__(self, store: RegistryStore, threads: Threads) -> None:
        self._store = store
        self._references = References(store)
        self._threads = threads
        self._kept: dict[tuple[int, ProtobufMessage], RegisteredWriter] = {}
        """Never stale: the schema of an id never changes."""

    async def by_id(self, id: int, *, message: ProtobufMessage = THE_FIRST) -> RegisteredWriter | None:
        """None if the registry has no such schema. Raises ValueError if its values cannot become columns, and
        InvalidSchema if a reference is gone."""
        if (id, message) not in self._kept:
            found = await self._store.schemas([id]) if 0 < id <= SCHEMA_ID_MAX else {}
            if id not in found:
                return None
            made = await self.made(id, found[id].body, message=message)
            if len(self._kept) >= WRITERS_KEPT_MAX:
                self._kept.clear()
            self._kept[id, message] = made
        return self._kept[id, message]

    async def made(self, id: int, body: SchemaBody, *, message: ProtobufMessage = THE_FIRST) -> RegisteredWriter:
        """The writer of a schema that has, or will have, this id. Raises as `by_id` does."""
        referred = await self._references.referred(body.references, body.format)
        return await self._threads.run(partial(_registered, id, body, referred, message))

    async def by_id_or_why(self, id: int, *, message: ProtobufMessage = THE_FIRST) -> RegisteredWriter | str | None:
        """The writer, None as in `by_id`, or the reason why there cannot be such a writer."""
        try:
            return await self.by_id(id, message=message)
        except (ValueError, Invalid, Exhausted) as error:
            return str(error)

    async def latest_id(self, subject: str) -> int | None:
        """The schema id of the subject's newest version."""
        live = await self.live_ids(subject)
        return live[-1] if live else None

    async def live_ids(self, subject: str) -> list[int]:
        """The schema ids of the subject's versions, from the oldest to the newest."""
        return [entry.schema_id for entry in (await self._store.subject_view(subject)).live]


def _registered(id: int, body: SchemaBody, referred: list[Referred], message: ProtobufMessage) -> RegisteredWriter:
    parsed = parsed_body(body, referred)
    match body.format:
        case SchemaFormat.AVRO:
            return RegisteredWriter(avro_writer(parsed, id), from_avro.wanted_columns(parsed))
        case SchemaFormat.PROTOBUF:
            name = name_of_message(parsed, message)
            writer = protobuf_writer(parsed, number=id, framed=True, message=name)
            return RegisteredWriter(writer, from_protobuf.wanted_columns(parsed, name))
        case SchemaFormat.JSON:
            writer = Writer(number=id, format="json", codec=JSON_VERSION, framed=True)
            return RegisteredWriter(writer, from_json_schema.wanted_columns(parsed), parsed)
