"""Moves a contract that was recorded under older codec rules to the newest ones.

This concerns only values that are still to be decoded: files name the rules by which they were written. Columns stay
unchanged, so JSON text remains JSON text; new columns may be of kinds that only the new rules can fill.
"""

from collections.abc import Sequence
from dataclasses import replace

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.json.codec import CODEC_VERSION as JSON_VERSION
from lakestream.contract.topic.topic_contract import TopicContract


def renewed(contract: TopicContract) -> TopicContract:
    key = None if contract.key is None else replace(contract.key, writers=_renewed(contract.key.writers))
    return replace(contract, writers=_renewed(contract.writers), key=key)


def _renewed(writers: Sequence[Writer]) -> tuple[Writer, ...]:
    return tuple(replace(one, codec=JSON_VERSION) if one.format == "json" else one for one in writers)
