"""The contract of a topic whose columns are declared by CREATE TABLE.

    columns -> a schema that wants exactly them -> registered under the topic's subject -> FRAMED, by its id
    columns, for JSON                                                                   -> PLAIN, by the columns alone

Values that do not fit the columns are set aside, as with every declared format.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.for_json import check_json_columns
from lakestream.contract.columns.layout import CannotFollow, Layout
from lakestream.contract.columns.to_avro import avro_schema
from lakestream.contract.columns.to_protobuf import numbered, protobuf_schema
from lakestream.contract.registry.registry import Registry
from lakestream.contract.registry.submitted import Submitted
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.contract.topic.topic_contract import TopicContract, ValueMode
from lakestream.contract.topic.value_config import ValueConfig, ValueFormat, first_contract
from lakestream.model.registry import SchemaFormat

DECLARED_FORMATS = (ValueFormat.JSON, ValueFormat.AVRO, ValueFormat.PROTOBUF)


class Declared(NamedTuple):
    """Columns that a format of values can carry."""

    layout: Layout
    schema: Submitted | None
    """The schema to register; None for JSON, which the columns alone describe."""

    def numbered_from(self, next_id: int) -> "Declared":
        """New columns get ids from here on."""
        return self._replace(layout=replace(self.layout, next_id=max(self.layout.next_id, next_id)))


def declared(record: str, columns: Sequence[Column], format: ValueFormat) -> Declared:
    """`record` names the type of the values in their schema. Raises CannotFollow with the reason."""
    match format:
        case ValueFormat.JSON:
            check_json_columns(columns)
            return Declared(_layout(columns), None)
        case ValueFormat.AVRO:
            text = avro_schema(record, columns)
            return Declared(_layout(columns), Submitted(format=SchemaFormat.AVRO, text=text))
        case ValueFormat.PROTOBUF:
            columns = numbered(columns)
            text = protobuf_schema(record, columns)
            return Declared(_layout(columns), Submitted(format=SchemaFormat.PROTOBUF, text=text))
    raise CannotFollow(
        f"values of the format '{format}' have no declared columns: use one of {', '.join(DECLARED_FORMATS)}"
    )


class DeclaredContracts:
    def __init__(self, registry: Registry, writers: RegisteredWriters) -> None:
        self._registry = registry
        self._writers = writers

    async def contract(self, asked: Declared, config: ValueConfig) -> TopicContract:
        """The topic's first contract. Registers the schema. Raises CannotFollow, and the registry's errors."""
        if asked.schema is None:
            return first_contract(config, asked.layout)
        version = await self._registry.register(config.subject, asked.schema)
        found = await self._writers.by_id(version.schema.id)
        if found is None:
            raise CannotFollow(f"schema {version.schema.id} of the subject '{config.subject}' was deleted: try again")
        if asked.layout.merged(found.wanted) != asked.layout:
            raise CannotFollow(f"no schema of the format '{config.format}' has just these columns: use simpler types")
        return TopicContract(mode=ValueMode.FRAMED, layout=asked.layout, writers=(found.writer,), declared=True)


def _layout(columns: Sequence[Column]) -> Layout:
    return Layout(columns=tuple(columns), next_id=max(part.id for column in columns for part in column.walk()) + 1)
