"""The contracts of topics, as compaction needs them: read from the table, grown by what records need, written back.

    of(topic) -> contract -> tasks -> needs -> grown(contract) -> tasks again -> evolution(contract) in the job's commit

A contract is a property of its table, so it moves in the same commit as the files that were written under it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from lakestream.catalog.metadata_file import MetadataFiles
from lakestream.catalog.topic_commits import Evolve
from lakestream.catalog.values import Json, Metadata, by_id
from lakestream.contract.columns.evolving import evolved_fields
from lakestream.contract.columns.layout import CannotFollow, Layout
from lakestream.contract.values.growing import GrowingContracts
from lakestream.contract.values.topic_contract import CONTRACT_PROPERTY, RAW_TOPIC, Needs, TopicContract, ValueMode
from lakestream.contract.values.value_config import ValueConfig, first_contract, value_config_of
from lakestream.metadata.store import MetadataStore
from lakestream.model.topic import TopicId

log = structlog.get_logger(__name__)

CONTRACT_CONFIG = "lakestream.contract-config"
"""A property of the table: the topic's configs under which its contract came about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldContract:
    config: ValueConfig
    contract: TopicContract

    @property
    def is_young(self) -> bool:
        """Whether the first records will surely need what it does not know."""
        contract = self.contract
        if contract.mode is ValueMode.FRAMED:
            return not contract.writers
        return contract.mode is ValueMode.UNDECIDED or (contract.is_typed and not contract.layout.columns)


RAW_CONTRACT = HeldContract(config=ValueConfig(), contract=RAW_TOPIC)


class TopicContracts:
    def __init__(self, store: MetadataStore, files: MetadataFiles, growing: GrowingContracts) -> None:
        self._store = store
        self._files = files
        self._growing = growing
        self._configs: dict[TopicId, ValueConfig] = {}
        self._configs_at: int | None = None

    async def of(self, topic: TopicId) -> HeldContract:
        """Under which the topic's next records become rows. Raises DamagedTable."""
        config = await self._config(topic)
        pointer = await self._store.tables.table_of_topic(topic)
        if config is None or pointer is None:
            return RAW_CONTRACT  # it was deleted: its job will find out
        metadata = (await self._files.read(pointer.metadata_location)).metadata
        contract = replace(_recorded(metadata, config), tombstones_kept=config.tombstones_kept)
        if config.follows_latest:
            contract = await self._latest(contract, config)
        return HeldContract(config=config, contract=contract)

    async def grown(self, held: HeldContract, needs: Needs) -> HeldContract:
        return replace(held, contract=await self._growing.grown(held.contract, needs, held.config))

    async def _latest(self, contract: TopicContract, config: ValueConfig) -> TopicContract:
        try:
            return await self._growing.following_latest(contract, config)
        except CannotFollow as error:
            log.warning("values are kept as bytes until there is a schema to read them by", reason=str(error))
            return contract if contract.writers else replace(contract, mode=ValueMode.RAW)

    async def _config(self, topic: TopicId) -> ValueConfig | None:
        version = await self._store.topics_version()
        if version != self._configs_at:
            topics = (await self._store.topics()).topics
            self._configs = {one.id: value_config_of(one.name, one.config) for one in topics}
            self._configs_at = version
        return self._configs.get(topic)


def evolution(held: HeldContract) -> Evolve:
    """What a commit changes in the table beside its files."""

    def evolve(metadata: Metadata) -> Sequence[Json]:
        text, config = held.contract.to_text(), _signature(held.config)
        properties = metadata.get("properties") or {}
        if held.contract.mode is ValueMode.UNDECIDED or (
            (properties.get(CONTRACT_PROPERTY), properties.get(CONTRACT_CONFIG)) == (text, config)
        ):
            return ()
        return [
            *_schema_updates(metadata, _layout(properties), held.contract.layout),
            {"action": "set-properties", "updates": {CONTRACT_PROPERTY: text, CONTRACT_CONFIG: config}},
        ]

    return evolve


def _schema_updates(metadata: Metadata, before: Layout, after: Layout) -> list[Json]:
    schema = by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"]) or {}
    fields = evolved_fields(schema["fields"], before, after)
    if fields == schema["fields"]:
        return []
    evolved = {key: value for key, value in schema.items() if key != "schema-id"} | {"fields": fields}
    return [{"action": "add-schema", "schema": evolved}, {"action": "set-current-schema", "schema-id": -1}]


def _recorded(metadata: Metadata, config: ValueConfig) -> TopicContract:
    """What the table says, unless the topic's configs have changed since: then anew, with the columns it has."""
    properties = metadata.get("properties") or {}
    if properties.get(CONTRACT_CONFIG) == _signature(config):
        return TopicContract.from_text(properties[CONTRACT_PROPERTY])
    return first_contract(config, _layout(properties))


def _layout(properties: dict[str, str]) -> Layout:
    text = properties.get(CONTRACT_PROPERTY)
    return Layout() if text is None else TopicContract.from_text(text).layout


def _signature(config: ValueConfig) -> str:
    return "/".join((config.format, config.source, config.subject, config.message))
