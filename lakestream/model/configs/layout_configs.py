"""Topic configs for how the rows of a table are laid out on `main`."""

from collections.abc import Callable

from lakestream.model.configs.definition import ConfigDefinition, ConfigType, Problem
from lakestream.model.configs.layout import (
    CLUSTER_AFTER,
    DEFAULT_CLUSTER_AFTER,
    PARTITION_BY,
    SORT_BY,
    BadLayout,
    parsed_cluster_after,
    parsed_order,
    parsed_partition,
)


def _parses(parse: Callable[[str], object], *, or_empty: bool) -> Problem:
    def problem(value: str) -> str | None:
        if or_empty and not value:
            return None
        try:
            parse(value)
        except BadLayout as error:
            return str(error)
        return None

    return problem


LAYOUT_CONFIGS = (
    ConfigDefinition(
        name=PARTITION_BY,
        type=ConfigType.STRING,
        default="",
        meaning="How the rows of `main` are partitioned, once they are clustered: columns, or transforms of them, with "
        "commas between: day(ts), bucket(16, user_id), truncate(4, sku), country. 'none' is unpartitioned; empty "
        "leaves the table as it is. The log keeps its own files. A change holds for rows that are clustered later.",
        problem=_parses(parsed_partition, or_empty=True),
    ),
    ConfigDefinition(
        name=SORT_BY,
        type=ConfigType.STRING,
        default="",
        meaning="How the rows of each clustered file are sorted: columns, each perhaps with 'asc' or 'desc' and 'nulls "
        "first' or 'nulls last': user_id, ts desc nulls last. 'none' is unsorted; empty leaves the table as it is.",
        problem=_parses(parsed_order, or_empty=True),
    ),
    ConfigDefinition(
        name=CLUSTER_AFTER,
        type=ConfigType.STRING,
        default=DEFAULT_CLUSTER_AFTER,
        meaning="When new rows of a partitioned or sorted table are clustered: when the oldest of them has waited for "
        "an age (15m, 1h), when so many bytes wait (1GiB), or whichever comes first (1h, 1GiB); 'never' leaves them "
        "in the log's files. Clustered rows are a second copy, in addition to the log's.",
        problem=_parses(parsed_cluster_after, or_empty=False),
    ),
)
