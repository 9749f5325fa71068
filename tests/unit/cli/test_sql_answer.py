"""Answers of an engine as JSON and as CSV: no value is lost on the way."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from lakestream.cli.engines.sql_answer import csv_line, distinct, print_csv_rows, print_json_rows

FAR = 290_000 * 31_556_952 * 1_000_000
"""Microseconds to a year that Python does not have."""


def printed(
    show: Callable[[pa.RecordBatchReader], None], batch: pa.RecordBatch, capsys: pytest.CaptureFixture[str]
) -> str:
    show(pa.RecordBatchReader.from_batches(batch.schema, [batch]))
    return capsys.readouterr().out


def test_columns_of_one_name_are_both_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert json.loads(printed(print_json_rows, batch, capsys)) == [{"a": 1, "a_1": 2}]


def test_a_made_up_name_is_nobody_elses() -> None:
    assert distinct(["a", "a", "a_1", "b", "a"]) == ["a", "a_2", "a_1", "b", "a_3"]


def test_null_and_empty_differ_in_csv(capsys: pytest.CaptureFixture[str]) -> None:
    batch = pa.record_batch({"a": pa.array(["", None]), "b": pa.array([True, None])})
    assert printed(print_csv_rows, batch, capsys) == 'a,b\n"",true\n,\n'


@pytest.mark.parametrize("row", [["a,b", 'say "x"', "two\nlines", "\r", "plain", " "]])
def test_what_is_quoted_is_read_back(row: list[str]) -> None:
    assert list(csv.reader(io.StringIO(csv_line(row), newline=""))) == [row]


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (pa.array([FAR], pa.timestamp("us")), "291970-"),
        (pa.array([FAR], pa.timestamp("us", "UTC")), "+00:00"),
        (pa.array([10_000_000], pa.date32()), "29349-"),
        (pa.array([[FAR]], pa.list_(pa.timestamp("us"))), "291970-"),
        (pa.array([{"at": FAR}], pa.struct([("at", pa.timestamp("us"))])), "291970-"),
    ],
)
def test_a_time_that_python_does_not_have_is_shown(
    column: pa.Array, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[dict[str, Any]] = json.loads(printed(print_json_rows, pa.record_batch({"at": column}), capsys))
    assert text in str(found[0]["at"])
