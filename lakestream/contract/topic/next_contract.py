"""The contract for a topic's next records, before any of them was seen.

properties of the table, configs of the topic -> recorded_contract -> the newest schema, where the configs want it
"""

from collections.abc import Mapping
from dataclasses import replace

import structlog

from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.topic.growing import GrowingContracts
from lakestream.contract.topic.recording import (
    CONTRACT_CONFIG,
    KEY_CONTRACT_CONFIG,
    config_signature,
    recorded_layout,
)
from lakestream.contract.topic.renewing import renewed
from lakestream.contract.topic.topic_contract import CONTRACT_PROPERTY, KeyContract, TopicContract, ValueMode
from lakestream.contract.topic.value_config import PartConfig, ValueConfig, first_contract, with_first_keys

log = structlog.get_logger(__name__)


async def next_contract(properties: Mapping[str, str], config: ValueConfig, growing: GrowingContracts) -> TopicContract:
    """The contract for the topic's next records, before any of them was seen."""
    recorded = recorded_contract(properties, config)
    contract = replace(recorded, tombstones_kept=config.tombstones_kept, keeping=config.keeping)
    if config.follows_latest:
        contract = await _latest(contract, config, growing)
    if config.key is not None and contract.key is not None and config.key.follows_latest:
        contract = await _latest_keys(contract, contract.key, config.key, growing)
    return contract


def recorded_contract(properties: Mapping[str, str], config: ValueConfig) -> TopicContract:
    """The recorded contract. If the topic's configs have changed since, a new one with the existing columns."""
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


async def _latest(contract: TopicContract, config: ValueConfig, growing: GrowingContracts) -> TopicContract:
    try:
        return await growing.following_latest(contract, config)
    except CannotFollow as error:
        log.warning("values are kept as bytes until there is a schema to read them by", reason=str(error))
        return contract if contract.writers else replace(contract, mode=ValueMode.RAW)


async def _latest_keys(
    contract: TopicContract, key: KeyContract, config: PartConfig, growing: GrowingContracts
) -> TopicContract:
    try:
        return await growing.with_latest_keys(contract, key, config)
    except CannotFollow as error:
        log.warning("keys are kept as bytes alone until there is a schema to read them by", reason=str(error))
        return contract if key.writers else replace(contract, key=replace(key, mode=ValueMode.RAW))
