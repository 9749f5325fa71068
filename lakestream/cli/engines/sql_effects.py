"""Says what a statement has done to a topic: what CREATE TABLE made, and where the rows of an INSERT went.

CREATE TABLE orders (...)       topic 'orders' made: 1 partition, values are json
INSERT INTO orders VALUES ...   the rows are records of topic 'orders', which ends at offset 3
"""

import re
from typing import Any, NamedTuple
from urllib.parse import quote

from lakestream.cli.client.gateway_client import TOPICS_PATH, ask_gateway
from lakestream.cli.failures import CommandFailed
from lakestream.cli.output import counted
from lakestream.cli.service import Gateway
from lakestream.metadata.rules.missing import shown_table
from lakestream.model.configs.value_configs import VALUE_FORMAT
from lakestream.model.table import STREAMS, Namespace

_COMMENT = re.compile(r"\s*(?:--[^\n]*(?:\n|$)|/\*.*?\*/)", re.DOTALL)
_WORD = r'(?:"[^"]+"|`[^`]+`|[\w$]+)'
_STATEMENT = re.compile(
    rf"\s*(?:(?P<make>CREATE\s+(?:OR\s+REPLACE\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?)|INSERT\s+INTO\s+(?:TABLE\s+)?)"
    rf"(?P<name>{_WORD}(?:\s*\.\s*{_WORD})*)",
    re.IGNORECASE,
)
_CATALOG = "lake"


class Effect(NamedTuple):
    """A statement that may have changed a topic, by its table."""

    makes: bool
    namespace: Namespace
    table: str


def effect_of(statement: str) -> Effect | None:
    """What the statement did if it succeeded; None for statements that neither make a table nor insert."""
    while (comment := _COMMENT.match(statement)) is not None:
        statement = statement[comment.end() :]
    if (found := _STATEMENT.match(statement)) is None:
        return None
    levels = [word.strip('"`') for word in re.findall(_WORD, found["name"])]
    namespace = levels[1:-1] if len(levels) > 1 and levels[0] == _CATALOG else levels[:-1]
    return Effect(found["make"] is not None, tuple(namespace) or STREAMS, levels[-1])


def told(gateway: Gateway, effect: Effect) -> str | None:
    """The sentence; None if the table is no topic's, or the gateway does not tell."""
    try:
        topic = ask_gateway(gateway, f"{TOPICS_PATH}/{quote(effect.table, safe='')}")
    except CommandFailed:
        return None
    if topic["table"]["table"] != shown_table(effect.namespace, effect.table):
        return None
    if not effect.makes:
        return f"the rows are records of topic '{topic['name']}', which has {counted(topic['records'], 'record')} now"
    partitions = counted(len(topic["partitions"]), "partition")
    return f"topic '{topic['name']}' made: {partitions}, values are {_format(topic)}"


def _format(topic: Any) -> str:
    return str(topic["config"].get(VALUE_FORMAT, "auto"))
