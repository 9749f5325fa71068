"""All known topic configs, with their meanings, defaults and allowed values.

Unknown names are refused. Configs without an effect say so (without_effect.py). `TopicConfig` is the typed form that
the broker works with.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from lakestream.model.configs.definition import (
    INT64_MAX,
    ConfigDefinition,
    ConfigType,
    matching,
    number,
    one_of,
    some_of,
    truth,
)
from lakestream.model.configs.layout import CLUSTER_AFTER, DEFAULT_CLUSTER_AFTER, ClusterAfter, parsed_cluster_after
from lakestream.model.configs.layout_configs import LAYOUT_CONFIGS
from lakestream.model.configs.profile import DEFAULT_PROFILE, PROFILE, Profile
from lakestream.model.configs.table_retention import (
    TABLE_RETENTION,
    TABLE_RETENTION_CONFIG,
    TableRetention,
    table_retention,
)
from lakestream.model.configs.value_configs import VALIDATE, VALUE_CONFIGS, Validation, problem_together
from lakestream.model.configs.without_effect import CONFIGS_WITHOUT_EFFECT
from lakestream.model.errors import InvalidTopicConfig, UnsupportedOperation
from lakestream.model.freshness import DEFAULT_FRESHNESS, FRESHNESS, Freshness
from lakestream.model.table import STREAMS, Namespace

ON_TOPIC_DELETE = "lakestream.table.on-topic-delete"
TABLE_ENABLE = "lakestream.table.enable"
TABLE_NAMESPACE = "lakestream.table.namespace"
_DROP = "drop"
_FALSE = "false"


class Compression(StrEnum):
    """The values of `compression.type`."""

    PRODUCER = "producer"
    UNCOMPRESSED = "uncompressed"
    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"


_DEFINITIONS = (
    ConfigDefinition(
        name="cleanup.policy",
        type=ConfigType.LIST,
        default="delete",
        meaning="What happens to old records: 'delete' drops them once retention.ms or retention.bytes says so. "
        "'compact' demands a key of every record; records that a later one of the same key replaces are not removed "
        "yet, and without 'delete' retention does not apply.",
        problem=some_of("delete", "compact"),
    ),
    ConfigDefinition(
        name="compression.type",
        type=ConfigType.STRING,
        default=Compression.PRODUCER,
        meaning="How batches are compressed: exactly as the producer sent them (producer), or all in one way; those "
        "that came otherwise are compressed again. Records that are read back from the table come in the same "
        "codec; under 'producer' those that were compressed come as lz4.",
        problem=one_of(*Compression),
    ),
    ConfigDefinition(
        name=FRESHNESS,
        type=ConfigType.STRING,
        default=DEFAULT_FRESHNESS,
        meaning="How soon a record becomes a row of the table: after about this time, or earlier when many records "
        "wait. 'on-read': each load of the table through the catalog first waits, for at most 2 seconds, until the "
        "table has all records that were acknowledged before the load; between loads it is like '10s'. A shorter "
        "time costs more commits and smaller files.",
        problem=one_of(*Freshness),
    ),
    ConfigDefinition(
        name=PROFILE,
        type=ConfigType.STRING,
        default=DEFAULT_PROFILE,
        meaning="How soon records are durable, and at what cost. 'fast' flushes at once: a small flush lies in the "
        "metadata store with its offsets, for seconds, until many of them are moved into one object. 'diskless' "
        "gathers records until a flush is worth a PUT; with embedded SQLite its small flushes lie there as well. It "
        "can be changed at any time.",
        problem=one_of(*Profile),
    ),
    ConfigDefinition(
        name=TABLE_ENABLE,
        type=ConfigType.BOOLEAN,
        default="true",
        meaning="Whether the catalog shows the topic's table. With 'false' it is neither listed nor found; records "
        "move into its files all the same and are read back from there. With 'true' it is there again, with all of "
        "them.",
        problem=truth,
    ),
    ConfigDefinition(
        name=TABLE_NAMESPACE,
        type=ConfigType.STRING,
        default=".".join(STREAMS),
        meaning="The namespace of the topic's table in the catalog, with dots between its levels. Setting it moves the "
        "table there, under its name if that is free; taking it back leaves the table where it is.",
        problem=matching(r"[a-z0-9_]{1,64}(\.[a-z0-9_]{1,64}){0,7}", "lower-case letters, digits, _ and single dots"),
    ),
    ConfigDefinition(
        name=ON_TOPIC_DELETE,
        type=ConfigType.STRING,
        default="keep",
        meaning="What becomes of the table when the topic is deleted: 'keep' leaves it as an ordinary table, 'drop' "
        "takes it out of the catalog at once and deletes its files after a grace (wal.grace_ms).",
        problem=one_of("keep", _DROP),
    ),
    TABLE_RETENTION_CONFIG,
    ConfigDefinition(
        name="max.message.bytes",
        type=ConfigType.INT,
        default=str(1024 * 1024 + 12),
        meaning="The largest record batch, as compressed by the producer.",
        problem=number(0, 64 * 1024 * 1024),
    ),
    ConfigDefinition(
        name="message.timestamp.after.max.ms",
        type=ConfigType.LONG,
        default="3600000",
        meaning="How far a record's timestamp may lie in the future.",
        problem=number(0, INT64_MAX),
    ),
    ConfigDefinition(
        name="message.timestamp.before.max.ms",
        type=ConfigType.LONG,
        default=str(INT64_MAX),
        meaning="How far a record's timestamp may lie in the past.",
        problem=number(0, INT64_MAX),
    ),
    ConfigDefinition(
        name="message.timestamp.type",
        type=ConfigType.STRING,
        default="CreateTime",
        meaning="Whose time a record has: the producer's (CreateTime) or the broker's (LogAppendTime).",
        problem=one_of("CreateTime", "LogAppendTime"),
    ),
    ConfigDefinition(
        name="retention.bytes",
        type=ConfigType.LONG,
        default="-1",
        meaning="How many bytes a partition keeps at least, before its oldest records go; -1: all. Their rows leave "
        "the table with them unless lakestream.table.retention.ms is set.",
        problem=number(-1, INT64_MAX),
    ),
    ConfigDefinition(
        name="retention.ms",
        type=ConfigType.LONG,
        default="-1",
        meaning="How long records are kept, by their timestamps; -1: for ever. Their rows leave the table with them "
        "unless lakestream.table.retention.ms is set.",
        problem=number(-1, INT64_MAX),
    ),
)

TOPIC_CONFIGS: Mapping[str, ConfigDefinition] = {
    definition.name: definition
    for definition in sorted(
        (*_DEFINITIONS, *CONFIGS_WITHOUT_EFFECT, *LAYOUT_CONFIGS, *VALUE_CONFIGS),
        key=lambda definition: definition.name,
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    compression: Compression
    max_message_bytes: int
    timestamp_after_max_ms: int
    timestamp_before_max_ms: int
    log_append_time: bool
    keys_required: bool
    """Set for a compacted topic: records without a key could never be replaced."""
    retention_ms: int | None
    retention_bytes: int | None
    table_retention: TableRetention
    validation: Validation
    """The check of values before they are stored."""
    freshness: Freshness
    profile: Profile


def check_topic_config(config: Mapping[str, str]) -> None:
    """Raise InvalidTopicConfig, naming the first config that is unknown or has an unusable value."""
    for name, value in config.items():
        definition = TOPIC_CONFIGS.get(name)
        if definition is None:
            raise InvalidTopicConfig(f"unknown topic config '{name}'; known are: {', '.join(TOPIC_CONFIGS)}")
        if (problem := definition.problem(value)) is not None:
            raise InvalidTopicConfig(f"topic config '{name}': {problem}")
    if (problem := problem_together(config)) is not None:
        raise InvalidTopicConfig(problem)


def kept_topic_config(config: Mapping[str, str]) -> Mapping[str, str]:
    """The config as it is stored. `config` has been checked."""
    return {name: TOPIC_CONFIGS[name].kept(value) for name, value in config.items()}


def table_namespace(config: Mapping[str, str]) -> Namespace | None:
    """The namespace configured for the topic's table; None if none is configured."""
    asked = config.get(TABLE_NAMESPACE)
    return None if asked is None else tuple(asked.split("."))


def cluster_after(config: Mapping[str, str]) -> ClusterAfter:
    """When new rows of the topic's table are clustered, if it has a layout."""
    return parsed_cluster_after(config.get(CLUSTER_AFTER, DEFAULT_CLUSTER_AFTER))


def lists_its_table(config: Mapping[str, str]) -> bool:
    """Whether the catalog shows the table of a topic with this config."""
    return config.get(TABLE_ENABLE) != _FALSE


def drops_its_table(config: Mapping[str, str]) -> bool:
    """Whether the table of a topic with this config is deleted with the topic."""
    return config.get(ON_TOPIC_DELETE) == _DROP


def chosen_freshness(config: Mapping[str, str]) -> Freshness | None:
    """The freshness that the config sets for the topic's table; None if it sets none."""
    asked = config.get(FRESHNESS)
    return None if asked is None else Freshness(asked)


def check_rebuildable(config: TopicConfig) -> None:
    """Raises UnsupportedOperation if the table may have rows that the log has not any more."""
    keeps_all = config.retention_ms is None and config.retention_bytes is None
    if not config.table_retention.follows_log and not keeps_all:
        raise UnsupportedOperation(
            f"the table keeps rows by a rule of its own ({TABLE_RETENTION}), and the log may have let go of some: a "
            f"rebuild would lose them. Set {TABLE_RETENTION}=-2 first if they may go"
        )


def typed_topic_config(config: Mapping[str, str]) -> TopicConfig:
    """The config with defaults filled in. `config` has been checked."""

    def value(name: str) -> str:
        return config.get(name, TOPIC_CONFIGS[name].default)

    policies = {policy.strip() for policy in value("cleanup.policy").split(",")}
    deletes = "delete" in policies
    return TopicConfig(
        compression=Compression(value("compression.type")),
        keys_required="compact" in policies,
        max_message_bytes=int(value("max.message.bytes")),
        timestamp_after_max_ms=int(value("message.timestamp.after.max.ms")),
        timestamp_before_max_ms=int(value("message.timestamp.before.max.ms")),
        log_append_time=value("message.timestamp.type") == "LogAppendTime",
        retention_ms=_unless_forever(int(value("retention.ms"))) if deletes else None,
        retention_bytes=_unless_forever(int(value("retention.bytes"))) if deletes else None,
        table_retention=table_retention(value(TABLE_RETENTION)),
        validation=Validation(value(VALIDATE)),
        freshness=Freshness(value(FRESHNESS)),
        profile=Profile(value(PROFILE)),
    )


def _unless_forever(number: int) -> int | None:
    return None if number < 0 else number
