"""The topics' contracts for compaction: read from the table, extended by the needs of records, written back.

    of(topic) -> contract -> tasks -> needs -> grown(contract) -> tasks again -> evolution(contract) in the job's commit

A contract is a property of its table, so it changes in the same commit that adds files written under it. ALTER TABLE
changes it, too. A job whose files were written under another contract than the table has now is not committed, but
planned again: otherwise it would take the change back, or its rows would lack the new columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.catalog.topic.topic_commits import Evolve
from lakestream.contract.columns.evolving import evolved_fields
from lakestream.contract.columns.layout import Layout
from lakestream.contract.topic.growing import GrowingContracts
from lakestream.contract.topic.next_contract import next_contract
from lakestream.contract.topic.recording import contract_record, recorded_layout
from lakestream.contract.topic.topic_contract import CONTRACT_PROPERTY, RAW_TOPIC, Needs, TopicContract, ValueMode
from lakestream.contract.topic.value_config import ValueConfig, value_config_of
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.value_configs import SystemColumns
from lakestream.model.file_compression import DEFAULT_COMPRESSION, FileCompression, UnknownCompression, compression_of
from lakestream.model.table_errors import ContractMoved
from lakestream.model.topic import TopicId
from lakestream.storage.tablefile.format.columns import shown_fields

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldContract:
    config: ValueConfig
    contract: TopicContract
    recorded: str | None = None
    """What the table said of its contract when this was read from it."""
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
        properties = metadata.get("properties") or {}
        contract = await next_contract(properties, config, self._growing)
        return HeldContract(
            config=config,
            contract=contract,
            recorded=properties.get(CONTRACT_PROPERTY),
            compression=_compression(metadata),
        )

    async def grown(self, held: HeldContract, needs: Needs) -> HeldContract:
        return replace(held, contract=await self._growing.grown(held.contract, needs, held.config))

    async def _config(self, topic: TopicId) -> ValueConfig | None:
        version = await self._store.topics_version()
        if version != self._configs_at:
            topics = (await self._store.topics()).topics
            self._configs = {one.id: value_config_of(one.name, one.config) for one in topics}
            self._configs_at = version
        return self._configs.get(topic)


def evolution(held: HeldContract) -> Evolve:
    """The changes that a commit makes to the table besides adding files. They raise ContractMoved if somebody has
    changed the table's contract meanwhile."""

    def evolve(metadata: Metadata) -> Sequence[Json]:
        recorded = contract_record(held.contract, held.config)
        properties = metadata.get("properties") or {}
        if properties.get(CONTRACT_PROPERTY) not in (held.recorded, recorded[CONTRACT_PROPERTY]):
            raise ContractMoved("somebody has changed the topic's columns meanwhile: its values are decoded again")
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


def _compression(metadata: Metadata) -> FileCompression:
    """The compression in the table's properties. guards.py refuses invalid values when they are set."""
    try:
        return compression_of(metadata.get("properties") or {})
    except UnknownCompression as error:
        log.warning("files are compressed as if the table did not say how", reason=str(error))
        return DEFAULT_COMPRESSION
