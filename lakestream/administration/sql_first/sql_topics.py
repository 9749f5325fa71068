"""Which topic a CREATE TABLE makes: its partitions, its configs, its columns and their contract.

columns      ->  a contract: a schema registered under <topic>-value (Avro, Protobuf), or declared columns of JSON
properties   ->  lakestream.partitions, topic configs by their names, and the table's own properties
"""

from collections.abc import Mapping
from typing import NamedTuple

from lakestream.administration.sql_first.inserted_rows import KEY
from lakestream.catalog.names.new_topics import AskedTable, TopicPlan
from lakestream.catalog.spec.values import Json, whole_number
from lakestream.catalog.strangers.guards import CATALOGS_PROPERTIES, DROPPABLE, TAKES_ROWS
from lakestream.catalog.topic.topic_table import TOPIC_ID, TOPIC_NAME
from lakestream.contract.columns.from_iceberg import columns_of
from lakestream.contract.columns.iceberg import iceberg_field
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.registry.registry import Registry
from lakestream.contract.topic.declared import Declared, DeclaredContracts, declared
from lakestream.contract.topic.recording import contract_record
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.contract.topic.value_config import ValueFormat, value_config_of
from lakestream.contract.values.composing import encoding_text
from lakestream.model.configs.topic_config import (
    TABLE_NAMESPACE,
    TOPIC_CONFIGS,
    check_topic_config,
    kept_topic_config,
)
from lakestream.model.configs.value_configs import (
    COLUMNS_SCHEMA,
    SYSTEM_COLUMNS,
    VALUE_FORMAT,
    VALUE_MESSAGE,
    VALUE_SCHEMA,
    SystemColumns,
)
from lakestream.model.file_compression import UnknownCompression, compression_of
from lakestream.model.table import STREAMS, Namespace
from lakestream.model.table_errors import InvalidTableChange
from lakestream.model.topic import PARTITIONS_PER_TOPIC_MAX, TopicSpec
from lakestream.storage.tablefile.format.columns import LAST_COLUMN_ID, shown_fields

PARTITIONS = "lakestream.partitions"
"""A property in CREATE TABLE: the number of the topic's partitions."""
PARTITIONS_DEFAULT = "1"
_OWN_PREFIX = "lakestream."
_FOLLOW_FROM_THE_TABLE = (VALUE_SCHEMA, VALUE_MESSAGE, TABLE_NAMESPACE)
"""Topic configs that CREATE TABLE decides by itself."""


class SqlTopics:
    """The TopicPlanner of the gateway."""

    def __init__(self, registry: Registry, writers: RegisteredWriters) -> None:
        self._contracts = DeclaredContracts(registry, writers)

    async def check(self, asked: AskedTable) -> TopicPlan:
        return _planned(asked).plan

    async def plan(self, asked: AskedTable) -> TopicPlan:
        plan, columns = _planned(asked)
        config = value_config_of(plan.spec.name, plan.spec.config)
        try:
            contract = await self._contracts.contract(columns, config)
        except CannotFollow as error:
            raise InvalidTableChange(str(error)) from None
        properties = {**plan.properties, **contract_record(contract, config)}
        try:
            encoding_text(contract, properties.get(KEY))
        except CannotFollow as error:
            raise InvalidTableChange(str(error)) from None
        return TopicPlan(spec=plan.spec, fields=plan.fields, last_column_id=plan.last_column_id, properties=properties)


class _Planned(NamedTuple):
    plan: TopicPlan
    columns: Declared


def _planned(asked: AskedTable) -> _Planned:
    config = _config(asked.namespace, asked.properties)
    try:
        columns = declared(asked.name, columns_of(asked.schema["fields"]), ValueFormat(config[VALUE_FORMAT]))
    except CannotFollow as error:
        raise InvalidTableChange(str(error)) from None
    columns = columns.numbered_from(asked.next_column_id)
    fields: list[Json] = [iceberg_field(column) for column in columns.layout.columns]
    spec = TopicSpec(id=asked.topic, name=asked.name, partitions=_partitions(asked.properties), config=config)
    plan = TopicPlan(
        spec=spec,
        fields=shown_fields(fields, SystemColumns(config[SYSTEM_COLUMNS])),
        last_column_id=LAST_COLUMN_ID,
        properties={
            DROPPABLE: "true",
            # Merged manifests would hold more than the rows of one append.
            "commit.manifest-merge.enabled": "false",
            **_table_properties(asked.properties),
            TAKES_ROWS: "true",
            TOPIC_NAME: asked.name,
            TOPIC_ID: asked.topic.hex(),
        },
    )
    return _Planned(plan, columns)


def _config(namespace: Namespace, properties: Mapping[str, str]) -> Mapping[str, str]:
    """The topic's configs. Raises InvalidTopicConfig, InvalidTableChange."""
    given = {name: value for name, value in properties.items() if name in TOPIC_CONFIGS}
    for name in _FOLLOW_FROM_THE_TABLE:
        if name in given:
            raise InvalidTableChange(f"'{name}' follows from the table and its columns: leave it out")
    config = {VALUE_FORMAT: ValueFormat.JSON.value, SYSTEM_COLUMNS: SystemColumns.HIDDEN.value, **given}
    if config[VALUE_FORMAT] == ValueFormat.JSON:
        config[VALUE_SCHEMA] = COLUMNS_SCHEMA
    if namespace != STREAMS:
        config[TABLE_NAMESPACE] = ".".join(namespace)
    check_topic_config(config)
    return kept_topic_config(config)


def _partitions(properties: Mapping[str, str]) -> int:
    asked = properties.get(PARTITIONS, PARTITIONS_DEFAULT)
    count = whole_number(asked)
    if count is None or not 1 <= count <= PARTITIONS_PER_TOPIC_MAX:
        raise InvalidTableChange(f"'{PARTITIONS}' must be from 1 to {PARTITIONS_PER_TOPIC_MAX}, not '{asked}'")
    return count


def _table_properties(properties: Mapping[str, str]) -> Mapping[str, str]:
    """Those that are neither of the topic nor ours."""
    kept = {name: value for name, value in properties.items() if name not in TOPIC_CONFIGS and name != PARTITIONS}
    for name in kept:
        if name in CATALOGS_PROPERTIES:
            raise InvalidTableChange(f"'{name}' cannot be set on the table of a topic: leave it out")
        if name.startswith(_OWN_PREFIX) and name not in (DROPPABLE, KEY):
            known = [PARTITIONS, KEY, DROPPABLE, *(one for one in TOPIC_CONFIGS if one.startswith(_OWN_PREFIX))]
            raise InvalidTableChange(f"there is no property '{name}'; known are: {', '.join(known)}")
    try:
        compression_of(kept)
    except UnknownCompression as error:
        raise InvalidTableChange(str(error)) from None
    return kept
