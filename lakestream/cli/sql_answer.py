"""Rows of an answer, printed: a table for people, JSON or CSV for programs.

Bytes are shown as the text they mostly are, and where they are no UTF-8 as \\x and hexadecimal digits, which is how
PostgreSQL writes them. Times are in UTC. JSON and CSV leave as they come; a table on a screen has a last row.
"""

import csv
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from lakestream.cli.output import print_table, say

ROWS_SHOWN_MAX = 1_000
"""Of a table: its columns are as wide as their widest row, so all of them are held in memory."""


def print_rows(answer: pa.RecordBatchReader) -> None:
    shown: list[Sequence[Any]] = []
    more = False
    for row in _rows(answer):
        if len(shown) == ROWS_SHOWN_MAX:
            more = True
            break
        shown.append([_cell(value) for value in row])
    columns = [_heading(field) for field in answer.schema]
    print_table(columns, shown)
    if more:
        say(f"these are the first {ROWS_SHOWN_MAX:,} rows; --csv and --json print all, LIMIT fewer")


def print_json_rows(answer: pa.RecordBatchReader) -> None:
    names = answer.schema.names
    separator = "["
    for row in _rows(answer):
        sys.stdout.write(separator)
        json.dump(dict(zip(names, row, strict=True)), sys.stdout, ensure_ascii=False)
        separator = ",\n "
    sys.stdout.write("[]\n" if separator == "[" else "]\n")
    sys.stdout.flush()


def print_csv_rows(answer: pa.RecordBatchReader) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.schema.names)
    writer.writerows([_cell(value) for value in row] for row in _rows(answer))
    sys.stdout.flush()


def _rows(answer: pa.RecordBatchReader) -> Iterator[Sequence[Any]]:
    """Values that JSON can hold."""
    for batch in answer:
        columns = [_whole_micros(column).to_pylist() for column in batch.columns]
        for row in zip(*columns, strict=True):
            yield [plain(value) for value in row]


def plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return bytes_as_text(value)
        case datetime():
            return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
        case date() | time():
            return value.isoformat()
        case Mapping():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple() if not hasattr(value, "_fields"):
            return [plain(each) for each in value]
        case Decimal() | timedelta() | _:
            return str(value)


def bytes_as_text(content: bytes) -> str:
    """Control characters are no text: they would move a terminal's cursor, or end a string."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return f"\\x{content.hex()}"
    is_text = text.isprintable() or all(one.isprintable() or one in "\t\n\r" for one in text)
    return text if is_text else f"\\x{content.hex()}"


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _heading(field: pa.Field) -> str:
    is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
    return f">{field.name}" if is_number else str(field.name)


def _whole_micros(column: pa.Array) -> pa.Array:
    """Python's times have no nanoseconds."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        return column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column
