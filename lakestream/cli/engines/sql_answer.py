"""Prints the rows of an answer: a table for people, JSON or CSV for programs.

Bytes are shown as text if they are UTF-8, which they mostly are, and otherwise as \\x and hexadecimal digits, as in
PostgreSQL. Times are in UTC. JSON and CSV are streamed; a table on a screen has a last row. In CSV a null is nothing
and an empty text is "", as in PostgreSQL: a tombstone is not an empty value.
"""

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from lakestream.cli.output import print_table_or_rows, say

ROWS_SHOWN_MAX = 1_000
"""Rows of a table: its columns are as wide as their widest row, so all rows are held in memory."""
_QUOTED = re.compile(r'[",\r\n]')
"""The characters that require a CSV field to be quoted."""
_NOT_FOR_PYTHON = (OverflowError, ValueError)
"""Raised for times before the year 1 and after 9999, which columns may hold and Python's types do not."""


def print_rows(answer: pa.RecordBatchReader) -> None:
    shown: list[Sequence[Any]] = []
    more = False
    for row in _rows(answer):
        if len(shown) == ROWS_SHOWN_MAX:
            more = True
            break
        shown.append([_cell(value) for value in row])
    columns = [_heading(field) for field in answer.schema]
    if not columns:
        say("done")
        return
    print_table_or_rows(columns, shown)
    if more:
        say(f"these are the first {ROWS_SHOWN_MAX:,} rows; --csv and --json print all, LIMIT fewer")


def print_json_rows(answer: pa.RecordBatchReader) -> None:
    names = distinct(answer.schema.names)
    separator = "["
    for row in _rows(answer):
        sys.stdout.write(separator)
        json.dump(dict(zip(names, row, strict=True)), sys.stdout, ensure_ascii=False)
        separator = ",\n "
    sys.stdout.write("[]\n" if separator == "[" else "]\n")
    sys.stdout.flush()


def print_csv_rows(answer: pa.RecordBatchReader) -> None:
    if answer.schema.names:
        sys.stdout.write(csv_line(answer.schema.names))
    for row in _rows(answer):
        sys.stdout.write(csv_line([_cell(value) for value in row]))
    sys.stdout.flush()


def csv_line(row: Sequence[Any]) -> str:
    return ",".join(map(_field, row)) + "\n"


def _field(value: Any) -> str:
    if value is None:
        return ""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if not text or _QUOTED.search(text) else text


def distinct(names: Sequence[str]) -> list[str]:
    """`a, a` -> `a, a_1`: a JSON object has each name once, but the answer to a join may have it twice."""
    taken, found = set(names), list[str]()
    for name in names:
        number, one = 0, name
        while one in found or (number and one in taken):
            number += 1
            one = f"{name}_{number}"
        found.append(one)
    return found


def _rows(answer: pa.RecordBatchReader) -> Iterator[Sequence[Any]]:
    """Rows of values that JSON can hold."""
    for batch in answer:
        columns = [_values(_whole_micros(column)) for column in batch.columns]
        for row in zip(*columns, strict=True):
            yield [plain(value) for value in row]


def _values(column: pa.Array) -> list[Any]:
    try:
        found: list[Any] = column.to_pylist()
    except _NOT_FOR_PYTHON:
        return [_value(each) for each in column]
    return found


def _value(scalar: pa.Scalar) -> Any:
    """The value, or its text if it is a time that Python cannot represent."""
    try:
        return scalar.as_py()
    except _NOT_FOR_PYTHON:
        pass
    if isinstance(scalar, pa.StructScalar):
        return {name: _value(each) for name, each in scalar.items()}
    if isinstance(scalar, pa.ListScalar | pa.LargeListScalar | pa.FixedSizeListScalar):
        return [_value(each) for each in scalar.values]
    if isinstance(scalar, pa.TimestampScalar):
        return f"{np.datetime64(scalar.value, scalar.type.unit)}{'+00:00' if scalar.type.tz else ''}"
    return str(np.datetime64(scalar.value, "D")) if isinstance(scalar, pa.Date32Scalar) else str(scalar)


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
    """Control characters are not text: they would move a terminal's cursor, or end a string."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return f"\\x{content.hex()}"
    is_text = text.isprintable() or all(one.isprintable() or one in "\t\n\r" for one in text)
    return text if is_text else f"\\x{content.hex()}"


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else value


def _heading(field: pa.Field) -> str:
    is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
    return f">{field.name}" if is_number else str(field.name)


def _whole_micros(column: pa.Array) -> pa.Array:
    """Python's times have no nanoseconds."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        return column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column
