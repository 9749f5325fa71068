"""Decode the values of records for people, by the contract of their topic, as compaction would.

    the contract that the table records, or the first one of the topic's configs
    -> detect the format if it is undecided, add schemas that values name -> decode

Nothing is stored. A value that does not fit its contract comes with the reason.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.topic.growing import GrowingContracts
from lakestream.contract.topic.renewing import renewed
from lakestream.contract.topic.topic_contract import CONTRACT_PROPERTY, TopicContract, ValueMode
from lakestream.contract.topic.value_config import ValueConfig, first_contract, value_config_of
from lakestream.contract.values.decoding.decoder import TypedValues, ValueDecoder
from lakestream.contract.values.decoding.detecting import detected
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.value_configs import ValueKeeping
from lakestream.model.topic import Topic
from lakestream.world.threads import Threads

_GROWTHS_MAX = 2
"""First the format or the schemas, then the columns that they turn out to need."""


class DecodedValue(NamedTuple):
    columns: dict[str, Any] | None
    """None: the value is bytes without a format, or could not be decoded."""
    problem: str | None = None
    """Why it could not."""


NOT_DECODED = DecodedValue(None)


class RecordValues:
    def __init__(self, store: MetadataStore, files: MetadataFiles, growing: GrowingContracts, threads: Threads) -> None:
        self._store = store
        self._files = files
        self._growing = growing
        self._threads = threads

    async def decoded(self, topic: Topic, values: pa.BinaryArray) -> list[DecodedValue]:
        """One for each value. Raises DamagedTable."""
        config = value_config_of(topic.name, topic.config)
        contract = await self._contract(topic, config)
        if contract.mode is ValueMode.UNDECIDED and (needs := detected(values)) is not None:
            contract = await self._growing.grown(contract, needs, config)
        for growths_left in reversed(range(_GROWTHS_MAX + 1)):
            if not contract.is_typed:
                return [NOT_DECODED] * len(values)
            decoder = ValueDecoder(contract)
            typed = await self._threads.run(decoder.decode, values)
            if not decoder.needs or not growths_left:
                break
            contract = await self._growing.grown(contract, decoder.needs, config)
        return _as_values(typed)

    async def _contract(self, topic: Topic, config: ValueConfig) -> TopicContract:
        pointer = await self._store.tables.table_of_topic(topic.id)
        properties: Mapping[str, str] = {}
        if pointer is not None:
            properties = (await self._files.read(pointer.metadata_location)).metadata.get("properties") or {}
        text = properties.get(CONTRACT_PROPERTY)
        recorded = None if text is None else renewed(TopicContract.from_text(text))
        if recorded is None or recorded.mode is ValueMode.UNDECIDED:
            recorded = first_contract(config, recorded.layout) if recorded else first_contract(config, _NO_COLUMNS)
        contract = replace(recorded, key=None, keeping=ValueKeeping.ALWAYS)
        if not config.follows_latest:
            return contract
        try:
            return await self._growing.following_latest(contract, config)
        except CannotFollow:
            return contract if contract.writers else replace(contract, mode=ValueMode.RAW)


_NO_COLUMNS = TopicContract(mode=ValueMode.RAW).layout


def _as_values(typed: TypedValues) -> list[DecodedValue]:
    rows: list[dict[str, Any]] = typed.columns.to_pylist()
    known, reasons = typed.writers.is_valid().to_pylist(), typed.errors.to_pylist()
    return [
        DecodedValue(None, reason) if reason is not None else DecodedValue(_present(row)) if is_known else NOT_DECODED
        for row, reason, is_known in zip(rows, reasons, known, strict=True)
    ]


def _present(row: dict[str, Any]) -> dict[str, Any]:
    """Without the columns that only other versions of the schema fill."""
    return {name: value for name, value in row.items() if value is not None}
