"""What an ALTER TABLE means for a topic whose columns SQL declares: the contract's next version."""

from collections.abc import Sequence
from typing import Any

from lakestream.administration.sql_first.inserted_rows import KEY
from lakestream.catalog.spec.values import Json, Metadata
from lakestream.catalog.strangers.altered_columns import AlteredColumns, current_fields
from lakestream.contract.columns.evolving import evolved_fields
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.topic.altering.contract import AlteringContracts
from lakestream.contract.topic.next_contract import recorded_contract
from lakestream.contract.topic.recording import contract_record
from lakestream.contract.topic.topic_contract import TopicContract
from lakestream.contract.topic.value_config import ValueConfig, value_config_of
from lakestream.contract.values.composing import encoding_text
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Invalid
from lakestream.model.table import TablePointer
from lakestream.model.table_errors import Guarded, UnknownTable

_SYSTEM_PREFIX = "__"


class DeclaredColumns:
    """The ColumnsOfRecords of the gateway."""

    def __init__(self, *, store: MetadataStore, altering: AlteringContracts) -> None:
        self._store = store
        self._altering = altering

    async def altered(
        self, pointer: TablePointer, metadata: Metadata, before: Sequence[Json], after: Sequence[Json]
    ) -> AlteredColumns:
        config = await self._config(pointer)
        properties: dict[str, str] = metadata.get("properties") or {}
        contract = recorded_contract(properties, config)
        try:
            made = await self._altering.altered(
                contract, config, _of_values(before, contract), _of_values(after, contract)
            )
            key = _key(properties.get(KEY), contract, made.contract)
            encoding_text(made.contract, key)
        except (CannotFollow, Invalid) as error:
            raise Guarded(f"ALTER TABLE is refused on the table of a topic: {error}") from None
        record = contract_record(made.contract, config) | ({} if key is None else {KEY: key})
        updates: list[Json] = [{"action": "set-properties", "updates": record}]
        return AlteredColumns(
            updates=(*_columns_of_the_schema(metadata, contract, made.contract), *updates), registered=made.registered
        )

    async def _config(self, pointer: TablePointer) -> ValueConfig:
        for topic in (await self._store.topics()).topics:
            if topic.id == pointer.topic:
                return value_config_of(topic.name, topic.config)
        raise UnknownTable(f"the topic of table {pointer.name} was deleted, and this change came too late")


def _of_values(fields: Sequence[Json], contract: TopicContract) -> list[Json]:
    of_keys = {column.id for column in contract.layout.key_columns}
    return [field for field in fields if field["id"] not in of_keys and not field["name"].startswith(_SYSTEM_PREFIX)]


def _key(name: str | None, before: TopicContract, after: TopicContract) -> str | None:
    """The name that the column of keys has now. Raises CannotFollow if it is gone."""
    if name is None:
        return None
    id = next((column.id for column in before.layout.columns if column.name == name), None)
    found = next((column for column in after.layout.columns if column.id == id and not column.is_dropped), None)
    if found is None:
        raise CannotFollow(f"the keys of inserted rows are taken from '{name}' ('{KEY}'), so it cannot be dropped")
    return found.name


def _columns_of_the_schema(metadata: Metadata, before: TopicContract, after: TopicContract) -> list[Json]:
    """Columns that the newest version of the schema brings, of which no record was seen yet."""
    fields = current_fields(metadata)
    names = [field["name"] for spec in metadata["partition-specs"] for field in spec["fields"]]
    evolved = _described(evolved_fields(fields, before.layout, after.layout, reserved=names))
    if evolved == _described(fields):
        return []
    return [
        {"action": "add-schema", "schema": {"type": "struct", "fields": evolved}},
        {"action": "set-current-schema", "schema-id": -1},
    ]


def _described(part: Any) -> Any:
    """The fields without descriptions that are empty, which mean the same as none."""
    match part:
        case dict():
            return {name: _described(inner) for name, inner in part.items() if (name, inner) != ("doc", "")}
        case list():
            return [_described(inner) for inner in part]
    return part
