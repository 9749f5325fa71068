"""`lakestream.table.retention.ms`: how long rows stay in the table of a topic, whatever the topic's log keeps.

    -2 (default)   a row leaves the table when its record leaves the log
    -1             rows stay for ever
    0 and more     a row leaves when it is so old, by its own time; the log may keep its record for longer, or not

The numbers are those of Kafka's `local.retention.ms`, where -2 means "as the log" as well.
"""

from typing import NamedTuple

from lakestream.model.configs.definition import INT64_MAX, ConfigDefinition, ConfigType, number

TABLE_RETENTION = "lakestream.table.retention.ms"
_AS_THE_LOG = -2
_FOR_EVER = -1


class TableRetention(NamedTuple):
    follows_log: bool
    ms: int | None
    """The greatest age of a row. None if the log decides, or if rows stay for ever."""


TABLE_RETENTION_CONFIG = ConfigDefinition(
    name=TABLE_RETENTION,
    type=ConfigType.LONG,
    default=str(_AS_THE_LOG),
    meaning="How long rows stay in the topic's table, by their timestamps; -1: for ever; -2: as long as their records "
    "stay in the log. Whole data files leave the branch main. The log goes by retention.ms and retention.bytes, and a "
    "file is deleted when neither of the two needs it.",
    problem=number(_AS_THE_LOG, INT64_MAX),
)


def table_retention(value: str) -> TableRetention:
    """`value` has been checked."""
    ms = int(value)
    return TableRetention(follows_log=ms == _AS_THE_LOG, ms=ms if ms > _FOR_EVER else None)
