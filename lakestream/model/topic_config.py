"""Topic configs: every one that is known, what it means, its default and what it may be set to.

A name that is not here is refused, and nothing here is ignored. `TopicConfig` is the typed form that
the broker works with.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from lakestream.model.errors import InvalidTopicConfig

_INT64_MAX = 2**63 - 1


class ConfigType(StrEnum):
    LONG = "long"
    INT = "int"
    STRING = "string"
    LIST = "list"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigDefinition:
    name: str
    type: ConfigType
    default: str
    meaning: str
    problem: Callable[[str], str | None]
    """Why a value cannot be used, or None."""


def _number(low: int, high: int) -> Callable[[str], str | None]:
    def problem(value: str) -> str | None:
        try:
            number = int(value)
        except ValueError:
            return f"'{value}' is not a whole number"
        return None if low <= number <= high else f"{number} is not between {low} and {high}"

    return problem


def _one_of(*allowed: str) -> Callable[[str], str | None]:
    def problem(value: str) -> str | None:
        return None if value in allowed else f"'{value}' is not one of: {', '.join(allowed)}"

    return problem


def _some_of(*allowed: str) -> Callable[[str], str | None]:
    def problem(value: str) -> str | None:
        unknown = [one for one in value.split(",") if one.strip() not in allowed]
        return f"'{value}' is not a list of: {', '.join(allowed)}" if unknown else None

    return problem


_DEFINITIONS = (
    ConfigDefinition(
        name="cleanup.policy",
        type=ConfigType.LIST,
        default="delete",
        meaning="What happens to old records: 'delete' drops them once retention.ms or retention.bytes says so. "
        "'compact' demands a key of every record; records that a later one of the same key replaces are not removed "
        "yet, and without 'delete' retention does not apply.",
        problem=_some_of("delete", "compact"),
    ),
    ConfigDefinition(
        name="compression.type",
        type=ConfigType.STRING,
        default="producer",
        meaning="Batches are kept exactly as the producer compressed them.",
        problem=_one_of("producer"),
    ),
    ConfigDefinition(
        name="max.message.bytes",
        type=ConfigType.INT,
        default=str(1024 * 1024 + 12),
        meaning="The largest record batch, as compressed by the producer.",
        problem=_number(0, 64 * 1024 * 1024),
    ),
    ConfigDefinition(
        name="message.timestamp.after.max.ms",
        type=ConfigType.LONG,
        default="3600000",
        meaning="How far a record's timestamp may lie in the future.",
        problem=_number(0, _INT64_MAX),
    ),
    ConfigDefinition(
        name="message.timestamp.before.max.ms",
        type=ConfigType.LONG,
        default=str(_INT64_MAX),
        meaning="How far a record's timestamp may lie in the past.",
        problem=_number(0, _INT64_MAX),
    ),
    ConfigDefinition(
        name="message.timestamp.type",
        type=ConfigType.STRING,
        default="CreateTime",
        meaning="Whose time a record has: the producer's (CreateTime) or the broker's (LogAppendTime).",
        problem=_one_of("CreateTime", "LogAppendTime"),
    ),
    ConfigDefinition(
        name="min.insync.replicas",
        type=ConfigType.INT,
        default="1",
        meaning="Always 1: the object store replicates, and an acknowledged record is durable there.",
        problem=_number(1, 1),
    ),
    ConfigDefinition(
        name="retention.bytes",
        type=ConfigType.LONG,
        default="-1",
        meaning="How many bytes a partition keeps at least, before its oldest records go; -1: all.",
        problem=_number(-1, _INT64_MAX),
    ),
    ConfigDefinition(
        name="retention.ms",
        type=ConfigType.LONG,
        default="-1",
        meaning="How long records are kept, by their timestamps; -1: for ever.",
        problem=_number(-1, _INT64_MAX),
    ),
)

TOPIC_CONFIGS: Mapping[str, ConfigDefinition] = {definition.name: definition for definition in _DEFINITIONS}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    max_message_bytes: int
    timestamp_after_max_ms: int
    timestamp_before_max_ms: int
    log_append_time: bool
    keys_required: bool
    """The topic is a compacted one: records without a key could never be replaced."""
    retention_ms: int | None
    retention_bytes: int | None


def check_topic_config(config: Mapping[str, str]) -> None:
    """Raise InvalidTopicConfig, naming the first config that is unknown or has a value that cannot be used."""
    for name, value in config.items():
        definition = TOPIC_CONFIGS.get(name)
        if definition is None:
            raise InvalidTopicConfig(f"unknown topic config '{name}'; known are: {', '.join(TOPIC_CONFIGS)}")
        if (problem := definition.problem(value)) is not None:
            raise InvalidTopicConfig(f"topic config '{name}': {problem}")


def typed_topic_config(config: Mapping[str, str]) -> TopicConfig:
    """The config with defaults filled in. `config` has been checked."""

    def value(name: str) -> str:
        return config.get(name, TOPIC_CONFIGS[name].default)

    policies = {policy.strip() for policy in value("cleanup.policy").split(",")}
    deletes = "delete" in policies
    return TopicConfig(
        keys_required="compact" in policies,
        max_message_bytes=int(value("max.message.bytes")),
        timestamp_after_max_ms=int(value("message.timestamp.after.max.ms")),
        timestamp_before_max_ms=int(value("message.timestamp.before.max.ms")),
        log_append_time=value("message.timestamp.type") == "LogAppendTime",
        retention_ms=_unless_forever(int(value("retention.ms"))) if deletes else None,
        retention_bytes=_unless_forever(int(value("retention.bytes"))) if deletes else None,
    )


def _unless_forever(number: int) -> int | None:
    return None if number < 0 else number
