"""Create a topic with declared columns, as CREATE TABLE does, for people who do not speak SQL.

columns as text, or the columns of another table  ->  the request of a CREATE TABLE  ->  topic and table, in one step
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakestream.administration.sql_first.inserted_rows import KEY
from lakestream.administration.sql_first.sql_topics import PARTITIONS
from lakestream.broker.directory import Directory
from lakestream.catalog.names.permits import ANYTHING, TablePermit
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.contract.columns.from_sql import fields_of
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.topic.value_config import ValueFormat
from lakestream.metadata.rules.missing import shown_table
from lakestream.model.configs.value_configs import VALUE_FORMAT
from lakestream.model.errors import InvalidRequest
from lakestream.model.table import STREAMS, Namespace
from lakestream.storage.tablefile.format.columns import RESERVED_IDS

_NOT_COPIED = ("required", "initial-default", "write-default")
"""What a column of another table may have, and a topic's cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewColumns:
    """The request for a topic with columns: `columns` as text, or those of the table `like`."""

    name: str
    columns: str | None = None
    like: str | None = None
    key: str | None = None
    partitions: int | None = None
    config: Mapping[str, str] = field(default_factory=dict)


class TopicsWithColumns:
    def __init__(self, tables: TableCatalog, directory: Directory, partitions_default: int) -> None:
        self._tables = tables
        self._directory = directory
        self._partitions_default = partitions_default

    async def create(self, asked: NewColumns, *, dry_run: bool, permit: TablePermit = ANYTHING) -> list[str]:
        """Returns the consequences. Raises InvalidRequest, InvalidTableChange, TableExists, TopicExists, UnknownTable,
        InvalidTopicConfig."""
        partitions = self._partitions_default if asked.partitions is None else asked.partitions
        key = {} if asked.key is None else {KEY: asked.key}
        request = {
            "name": asked.name,
            "schema": {"type": "struct", "fields": await self._fields(asked, permit)},
            "properties": {**asked.config, **key, PARTITIONS: str(partitions)},
        }
        if dry_run:
            await self._tables.planned(STREAMS, request, permit=permit)
        else:
            await self._tables.create(STREAMS, request, permit=permit)
            await self._directory.refresh()
        format = asked.config.get(VALUE_FORMAT, ValueFormat.JSON.value)
        return [
            f"topic '{asked.name}' and its table {shown_table(STREAMS, asked.name)} begin empty: "
            f"{partitions} partition{'' if partitions == 1 else 's'}, values are {format}",
            "every client and every engine sees them at once; INSERT INTO the table produces to the topic",
        ]

    async def _fields(self, asked: NewColumns, permit: TablePermit) -> list[Json]:
        if (asked.columns is None) == (asked.like is None):
            raise InvalidRequest("name either the columns or a table that has them")
        if asked.like is not None:
            loaded = await self._tables.load(*table_named(asked.like), permit=permit)
            return fields_like(loaded.file.metadata)
        try:
            return fields_of(asked.columns or "")
        except CannotFollow as error:
            raise InvalidRequest(str(error)) from None


def table_named(text: str) -> tuple[Namespace, str]:
    """`sales.eu.orders` is a table in a namespace; without a namespace it is one of the streams'."""
    *namespace, name = text.split(".")
    if not all((*namespace, name)):
        raise InvalidRequest(f"'{text}' is no table: write namespace.table")
    return tuple(namespace) or STREAMS, name


def fields_like(metadata: Metadata) -> list[Json]:
    """The table's columns for a new topic: all may be null, none has a default, and system columns are left out."""
    schema = by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"]) or {"fields": []}
    return [_optional(one) for one in schema["fields"] if one["id"] not in RESERVED_IDS]


def _optional(field: Json) -> Json:
    kept = {name: value for name, value in field.items() if name not in _NOT_COPIED}
    return {**kept, "required": False, "type": _optional_parts(field["type"])}


def _optional_parts(type: Any) -> Any:
    match type:
        case {"type": "struct", "fields": fields}:
            return {"type": "struct", "fields": [_optional(one) for one in fields]}
        case {"type": "list", "element": element}:
            return {**type, "element-required": False, "element": _optional_parts(element)}
        case {"type": "map", "key": key, "value": value}:
            return {
                **type,
                "key": _optional_parts(key),
                "value-required": False,
                "value": _optional_parts(value),
            }
    return type
