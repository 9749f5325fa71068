"""The properties of a table that record its topic's contract, and the configs under which the contract was made.

A contract is recorded in the same commit that adds files written under it, or that creates the table.
"""

from collections.abc import Mapping

from lakestream.contract.columns.layout import Layout
from lakestream.contract.topic.topic_contract import CONTRACT_PROPERTY, TopicContract
from lakestream.contract.topic.value_config import PartConfig, ValueConfig

CONTRACT_CONFIG = "lakestream.contract-config"
"""A table property: the topic's configs about values at the time when the contract was made."""
KEY_CONTRACT_CONFIG = "lakestream.key-contract-config"
"""The same for keys. Setting a format for keys keeps everything that was learned about values."""


def contract_record(contract: TopicContract, config: ValueConfig) -> dict[str, str]:
    """The table properties that record the contract."""
    record = {CONTRACT_PROPERTY: contract.to_text(), CONTRACT_CONFIG: config_signature(config)}
    return record | ({KEY_CONTRACT_CONFIG: config_signature(config.key)} if config.key is not None else {})


def recorded_layout(properties: Mapping[str, str]) -> Layout:
    """The columns of the recorded contract; none if there is no contract yet."""
    text = properties.get(CONTRACT_PROPERTY)
    return Layout() if text is None else TopicContract.from_text(text).layout


def config_signature(config: PartConfig) -> str:
    return "/".join((config.format, config.source, config.subject, config.message))
