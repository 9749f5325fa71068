"""Checks whether the tables of topics can follow a schema that is about to be registered under their subject.

    columns of all versions, one after another -> + those of the new one -> CannotFollow: which column, and why

Compaction would set aside all records of a schema that the table cannot follow, so the registration is refused. A
version that is older than the topic and could not be followed is skipped, as the table skips its records.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from lakestream.contract.columns import from_avro, from_json_schema, from_protobuf
from lakestream.contract.columns.layout import CannotFollow, Layout
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.submitted import Understood
from lakestream.contract.topic.key_columns import wanted_of_json_keys
from lakestream.contract.topic.message import ProtobufMessage
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.contract.topic.value_config import value_config_of
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Exhausted, Invalid
from lakestream.model.registry import SchemaFormat, SubjectView
from lakestream.world.threads import Threads

VERSIONS_KEPT_MAX = 1_000
"""The number of versions whose columns are kept for the next registration to the same subjects."""


class FollowingTables:
    def __init__(self, *, store: MetadataStore, threads: Threads) -> None:
        self._store = store
        self._threads = threads
        self._writers = RegisteredWriters(store.registry, threads)
        self._asked: set[tuple[int, str]] = set()

    async def reasons(self, subject: str, new: Understood, view: SubjectView) -> list[str]:
        """See contract/registry/following.py."""
        found: dict[str, None] = {}
        for of, name, message in await self._followers(subject):
            of_keys = of == "keys"
            versions = [await self._wanted(entry.schema_id, message, of_keys=of_keys) for entry in view.versions]
            why = await self._threads.run(partial(_why_not, new, message, versions, of_keys=of_keys))
            if why is not None:
                found[
                    f"TABLE_CANNOT_FOLLOW at /: {why} (the table of topic '{name}' has its columns of {of} from here)"
                ] = None
        return list(found)

    async def _followers(self, subject: str) -> list[tuple[str, str, str]]:
        """('values' or 'keys', a topic, and the message of its records). Topics with the same message are
        interchangeable."""
        found: dict[tuple[str, str], str] = {}
        for topic in (await self._store.topics()).topics:
            config = value_config_of(topic.name, topic.config)
            for of, part in (("values", config), ("keys", config.key)):
                if part is not None and part.subject == subject and part.has_columns_of_schemas:
                    found.setdefault((of, part.message), topic.name)
        return [(of, name, message) for (of, message), name in found.items()]

    async def _wanted(self, id: int, message: str, *, of_keys: bool) -> tuple[Wanted, ...]:
        if len(self._asked) >= VERSIONS_KEPT_MAX and (id, message) not in self._asked:
            self._writers, self._asked = RegisteredWriters(self._store.registry, self._threads), set()
        self._asked.add((id, message))
        try:
            found = await self._writers.by_id(id, message=ProtobufMessage(name=message))
        except (ValueError, Invalid, Exhausted):
            return ()
        if found is not None and found.json_schema is not None and of_keys:
            return wanted_of_json_keys(found.json_schema, found.wanted)
        return () if found is None else found.wanted


def _why_not(new: Understood, message: str, versions: Iterable[tuple[Wanted, ...]], *, of_keys: bool) -> str | None:
    """Blocking. The reason why a table could not follow, or None."""
    layout = Layout()
    for wanted in versions:
        layout = _merged_or_same(layout, wanted)
    try:
        layout.merged(_wanted_by(new.body.format, new.parsed, message, of_keys=of_keys))
    except (ValueError, Invalid, Exhausted) as error:  # CannotFollow is a ValueError
        return str(error)
    return None


def _merged_or_same(layout: Layout, wanted: tuple[Wanted, ...]) -> Layout:
    try:
        return layout.merged(wanted)
    except CannotFollow:
        return layout


def _wanted_by(format: SchemaFormat, parsed: Any, message: str, *, of_keys: bool) -> tuple[Wanted, ...]:
    match format:
        case SchemaFormat.AVRO:
            return from_avro.wanted_columns(parsed)
        case SchemaFormat.PROTOBUF:
            return from_protobuf.wanted_columns(parsed, message)
        case SchemaFormat.JSON:
            wanted = from_json_schema.wanted_columns(parsed)
            return wanted_of_json_keys(parsed, wanted) if of_keys else wanted
