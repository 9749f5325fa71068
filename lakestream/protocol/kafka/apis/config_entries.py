"""Config entries in Kafka's form: value, source, type.

A topic and a group show all known configs, set or not. A broker shows a few that clients ask for. These are true, and
can only be changed where brokers are started.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from lakestream.broker.broker import Broker
from lakestream.model.configs.definition import ConfigType
from lakestream.model.configs.group_configs import GROUP_CONFIGS
from lakestream.model.configs.topic_config import TOPIC_CONFIGS


class ConfigSource(IntEnum):
    """Kafka's numbers."""

    DYNAMIC_TOPIC = 1
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_GROUP = 8


class ShownType(IntEnum):
    """Kafka's numbers."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


TYPES: Mapping[ConfigType, ShownType] = {
    ConfigType.BOOLEAN: ShownType.BOOLEAN,
    ConfigType.DOUBLE: ShownType.DOUBLE,
    ConfigType.INT: ShownType.INT,
    ConfigType.LONG: ShownType.LONG,
    ConfigType.STRING: ShownType.STRING,
    ConfigType.LIST: ShownType.LIST,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    name: str
    value: str | None
    source: ConfigSource
    type: ShownType
    meaning: str
    read_only: bool = False
    default: str | None = None
    """The default behind a value that was set."""


def topic_entries(set_on_topic: Mapping[str, str]) -> Iterator[ConfigEntry]:
    for name, definition in TOPIC_CONFIGS.items():
        is_set = name in set_on_topic
        yield ConfigEntry(
            name=name,
            value=set_on_topic.get(name, definition.default),
            source=ConfigSource.DYNAMIC_TOPIC if is_set else ConfigSource.DEFAULT,
            type=TYPES[definition.type],
            meaning=definition.meaning,
            default=definition.default,
        )


def broker_entries(broker: Broker) -> list[ConfigEntry]:
    spec, limits = broker.cluster.spec, broker.limits
    creates = str(limits.auto_create_topics).lower()
    batch_bytes = TOPIC_CONFIGS["max.message.bytes"].default
    address = f"PLAINTEXT://{spec.host}:{spec.port}"
    groups = broker.groups.holdings.limits
    return [
        _given(
            "advertised.listeners", address, ShownType.STRING, "Where Metadata sends clients; TLS is not told apart."
        ),
        _given("auto.create.topics.enable", creates, ShownType.BOOLEAN, "Whether asking for a topic creates it."),
        _given("broker.id", str(spec.id), ShownType.INT, "This broker's id."),
        _given("broker.rack", spec.rack, ShownType.STRING, "The zone this broker runs in."),
        _given("default.replication.factor", "1", ShownType.INT, "Always 1: the object store replicates."),
        _given("compression.type", *_default_of("compression.type")),
        _given(
            "group.max.size", str(groups.members_max), ShownType.INT, "Members of one group; further ones are refused."
        ),
        _given("log.cleanup.policy", *_default_of("cleanup.policy")),
        _given("log.retention.bytes", *_default_of("retention.bytes")),
        _given("log.retention.ms", *_default_of("retention.ms")),
        _given("message.max.bytes", batch_bytes, ShownType.INT, "A topic's default for max.message.bytes."),
        _given("num.partitions", str(limits.partitions_default), ShownType.INT, "A new topic's default."),
        _given(
            "offsets.retention.minutes",
            str(groups.offsets_retention_ms // 60_000),
            ShownType.INT,
            "How long offsets of a group without members are kept.",
        ),
    ]


def group_entries(defaults: Mapping[str, str], set_on_group: Mapping[str, str]) -> Iterator[ConfigEntry]:
    for name, definition in GROUP_CONFIGS.items():
        is_set = name in set_on_group
        yield ConfigEntry(
            name=name,
            value=set_on_group.get(name, defaults[name]),
            source=ConfigSource.DYNAMIC_GROUP if is_set else ConfigSource.DEFAULT,
            type=TYPES[definition.type],
            meaning=definition.meaning,
            default=defaults[name],
        )


def _default_of(topic_config: str) -> tuple[str, ShownType, str]:
    """A topic's default, shown where Kafka has a broker config for it."""
    definition = TOPIC_CONFIGS[topic_config]
    return definition.default, TYPES[definition.type], f"A topic's default for {topic_config}."


def _given(name: str, value: str | None, kind: ShownType, meaning: str) -> ConfigEntry:
    return ConfigEntry(
        name=name, value=value, source=ConfigSource.STATIC_BROKER, type=kind, meaning=meaning, read_only=True
    )
