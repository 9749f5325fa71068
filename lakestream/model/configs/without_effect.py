"""Topic configs of Apache Kafka that Lakestream accepts, keeps and shows, and that change nothing here (ADR 6).

Each concerns a disk, a replica or a cleaner that does not exist here, so nothing is lost. Tools that create topics
(Kafka Streams, Connect, operators) set them and give up if they are refused. Configs that ask for something which would
then not be done are not here: they are refused.
"""

from lakestream.model.configs.definition import (
    INT32_MAX,
    INT64_MAX,
    ConfigDefinition,
    ConfigType,
    Problem,
    fraction,
    number,
    truth,
)

NO_EFFECT = "No effect here: "

_NO_SEGMENT_FILES = "partitions have no segment files; all of them share objects that the wal.* settings size."
_DURABLE = "every record is durable before it is acknowledged."
_NO_REPLICAS = "the object store replicates, and an acknowledged record is durable there."
_NO_CLEANER = "records that a later one of the same key replaces are not removed yet."
_NEVER = str(INT64_MAX)


def _without_effect(name: str, type: ConfigType, default: str, problem: Problem, reason: str) -> ConfigDefinition:
    return ConfigDefinition(
        name=name, type=type, default=default, meaning=f"{NO_EFFECT}{reason}", problem=problem, has_effect=False
    )


_INT, _LONG, _BOOLEAN, _DOUBLE = ConfigType.INT, ConfigType.LONG, ConfigType.BOOLEAN, ConfigType.DOUBLE
_PERIOD = number(0, INT64_MAX)

CONFIGS_WITHOUT_EFFECT = (
    _without_effect("delete.retention.ms", _LONG, "86400000", _PERIOD, _NO_CLEANER),
    _without_effect("file.delete.delay.ms", _LONG, "60000", _PERIOD, _NO_SEGMENT_FILES),
    _without_effect("flush.messages", _LONG, _NEVER, number(1, INT64_MAX), _DURABLE),
    _without_effect("flush.ms", _LONG, _NEVER, _PERIOD, _DURABLE),
    _without_effect("index.interval.bytes", _INT, "4096", number(0, INT32_MAX), _NO_SEGMENT_FILES),
    _without_effect("min.cleanable.dirty.ratio", _DOUBLE, "0.5", fraction, _NO_CLEANER),
    _without_effect("min.compaction.lag.ms", _LONG, "0", _PERIOD, _NO_CLEANER),
    _without_effect("min.insync.replicas", _INT, "1", number(1, INT32_MAX), _NO_REPLICAS),
    _without_effect("preallocate", _BOOLEAN, "false", truth, _NO_SEGMENT_FILES),
    _without_effect("segment.bytes", _INT, "1073741824", number(14, INT32_MAX), _NO_SEGMENT_FILES),
    _without_effect("segment.index.bytes", _INT, "10485760", number(4, INT32_MAX), _NO_SEGMENT_FILES),
    _without_effect("segment.jitter.ms", _LONG, "0", _PERIOD, _NO_SEGMENT_FILES),
    _without_effect("segment.ms", _LONG, "604800000", number(1, INT64_MAX), _NO_SEGMENT_FILES),
    _without_effect("unclean.leader.election.enable", _BOOLEAN, "false", truth, _NO_REPLICAS),
)
