"""The health of a table as /admin/status shows it."""

from dataclasses import asdict
from typing import Any

from lakestream.administration.health import NamedTable, TableHealth


def table_json(health: TableHealth) -> dict[str, Any]:
    return {
        **({"table": None} if health.table is None else _named_json(health.table)),
        "bytes_in_wal_too": health.bytes_in_wal_too,
        "bytes_over_one_copy": health.bytes_over_one_copy,
        "copies": health.copies,
        "keeps_log_for_ever": health.keeps_log_for_ever,
        "lag_records": health.lag.records,
        "lag_bytes": health.lag.bytes,
        "lag_seconds": health.lag.seconds,
        "debt_spans": health.lag.spans,
        "freshness": health.lag.freshness,
        "promised_seconds": health.lag.freshness.promised_seconds,
        "late": health.lag.is_late,
        "health": None if health.rating is None else asdict(health.rating),
    }


def _named_json(table: NamedTable) -> dict[str, Any]:
    return {
        "table": table.name,
        "listed": table.listed,
        **({} if table.contents is None else asdict(table.contents)),
        **({} if table.figures is None else {"main": asdict(table.figures)}),
        **({} if table.problem is None else {"error": table.problem}),
    }
