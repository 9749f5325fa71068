"""The topics' contracts for compaction: read from the table, extended by the needs of records, written back.

    of(topic) -> contract -> tasks -> needs -> grown(contract) -> tasks again -> evolution(contract) in the job's commit

A contract is a property of its table, so it changes in the same commit that adds files written under it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.catalog.topic.topic_commits import Evolve
from lakestream.contract.columns.evolving import evolved_fields
from lakestream.contract.columns.layout import CannotFollow, Layout
from lakestream.contract.topic.growing import GrowingContracts
from lakestream.contract.topic.recording import (
    CONTRACT_CONFIG,
    KEY_CONTRACT_CONFIG,
    config_signature,
    contract_record,
    recorded_layout,
)
from lakestream.contract.topic.renewing import renewed
from lakestream.contract.topic.topic_contract import (
    CONTRACT_PROPERTY,
    RAW_TOPIC,
    KeyContract,
    Needs,
    TopicContract,
    ValueMode,
)
from lakestream.contract.topic.value_config import (
    PartConfig,
    ValueConfig,
    first_contract,
    value_config_of,
    with_first_keys,
)
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.value_configs import SystemColumns
from lakestream.model.file_compression import DEFAULT_COMPRESSION, FileCompression, UnknownCompression, compression_of
from lakestream.model.topic import TopicId
from lakestream.storage.tablefile.format.columns import shown_fields

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldContract:
    config: ValueConfig
    contract: TopicContract
    compression: FileCompression = DEFAULT_COMPRESSION
    """The compression of files that are written under this contract."""

    @property
    def is_young(self) -> bool:
        """Whether the first records will certainly need something that the contract lacks."""
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
        """The contract for the topic's next records. Raises DamagedTable."""
        config = await self._config(topic)
        pointer = await self._store.tables.table_of_topic(topic)
        if config is None or pointer is None:
            return RAW_CONTRACT  # it was deleted: its job will find out
        metadata = (await self._files.read(pointer.metadata_location)).metadata
        recorded = _recorded(metadata, config)
        contract = replace(recorded, tombstones_kept=config.tombstones_kept, keeping=config.keeping)
        if config.follows_latest:
            contract = await self._latest(contract, config)
        if config.key is not None and contract.key is not None and config.key.follows_latest:
            contract = await self._latest_keys(contract, contract.key, config.key)
        return HeldContract(config=config, contract=contract, compression=_compression(metadata))

    async def grown(self, held: HeldContract, needs: Needs) -> HeldContract:
        return replace(held, contract=await self._growing.grown(held.contract, needs, held.config))

    async def _latest(self, contract: TopicContract, config: ValueConfig) -> TopicContract:
        try:
            return await self._growing.following_latest(contract, config)
        except CannotFollow as error:
            log.warning("values are kept as bytes until there is a schema to read them by", reason=str(error))
            return contract if contract.writers else replace(contract, mode=ValueMode.RAW)

    async def _latest_keys(self, contract: TopicContract, key: KeyContract, config: PartConfig) -> TopicContract:
        try:
            return await self._growing.with_latest_keys(contract, key, config)
        except CannotFollow as error:
            log.warning("keys are kept as bytes alone until there is a schema to read them by", reason=str(error))
            return contract if key.writers else replace(contract, key=replace(key, mode=ValueMode.RAW))

    async def _config(self, topic: TopicId) -> ValueConfig | None:
        version = await self._store.topics_version()
        if version != self._configs_at:
            topics = (await self._store.topics()).topics
            self._configs = {one.id: value_config_of(one.name, one.config) for one in topics}
            self._configs_at = version
        return self._configs.get(topic)


def evolution(held: HeldContract) -> Evolve:
    """The changes that a commit makes to the table besides adding files."""

    def evolve(metadata: Metadata) -> Sequence[Json]:
        recorded = contract_record(held.contract, held.config)
        properties = metadata.get("properties") or {}
        nothing_known = held.contract.mode is ValueMode.UNDECIDED and not held.contract.has_typed_keys
        if nothing_known or recorded.items() <= properties.items():
            layout = recorded_layout(properties)
            return _schema_updates(metadata, layout, layout, held.config.system_columns)
        return [
            *_schema_updates(metadata, recorded_layout(properties), held.contract.layout, held.config.system_columns),
            {"action": "set-properties", "updates": recorded},
        ]

    return evolve


def _schema_updates(metadata: Metadata, before: Layout, after: Layout, system_columns: SystemColumns) -> list[Json]:
    schema = by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"]) or {}
    partition_names = [field["name"] for spec in metadata["partition-specs"] for field in spec["fields"]]
    fields = evolved_fields(schema["fields"], before, after, reserved=partition_names)
    fields = shown_fields(fields, system_columns)
    if fields == schema["fields"]:
        return []
    evolved = {key: value for key, value in schema.items() if key != "schema-id"} | {"fields": fields}
    return [{"action": "add-schema", "schema": evolved}, {"action": "set-current-schema", "schema-id": -1}]


def _recorded(metadata: Metadata, config: ValueConfig) -> TopicContract:
    """The recorded contract. If the topic's configs have changed since, a new one with the existing columns."""
    properties = metadata.get("properties") or {}
    text = properties.get(CONTRACT_PROPERTY)
    recorded = None if text is None else renewed(TopicContract.from_text(text))
    if recorded is None or properties.get(CONTRACT_CONFIG) != config_signature(config):
        contract = first_contract(config, recorded_layout(properties))
    else:
        contract = replace(recorded, key=None)
    if config.key is None:
        return contract
    if recorded is None or properties.get(KEY_CONTRACT_CONFIG) != config_signature(config.key):
        return with_first_keys(contract, config.key)
    return replace(contract, key=recorded.key) if recorded.key else with_first_keys(contract, config.key)


def _compression(metadata: Metadata) -> FileCompression:
    """The compression in the table's properties. guards.py refuses invalid values when they are set."""
    try:
        return compression_of(metadata.get("properties") or {})
    except UnknownCompression as error:
        log.warning("files are compressed as if the table did not say how", reason=str(error))
        return DEFAULT_COMPRESSION
