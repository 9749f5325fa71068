"""Columns and shapes that were stored once give the same bytes for ever."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from lakestream.contract.codecs.json.codec import bind
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.columns.layout import Layout

from .samples import WRITER, binary

GOLDEN = json.loads((Path(__file__).parents[3] / "golden/codecs/json/v1.json").read_text())
LAYOUT = Layout.from_text(json.dumps(GOLDEN["layout"]))
ROWS = [row["bytes"].encode() for row in GOLDEN["rows"]]


def test_golden_columns_give_their_bytes() -> None:
    codec = bind(WRITER, LAYOUT)
    codec.shapes = GOLDEN["shapes"]
    columns = pa.RecordBatch.from_pylist([row["columns"] for row in GOLDEN["rows"]], arrow_schema(LAYOUT.columns))
    shapes = np.array([row["shape"] for row in GOLDEN["rows"]], np.int32)
    assert codec.encode(columns, shapes).to_pylist() == ROWS


def test_golden_bytes_give_their_columns() -> None:
    decoded = bind(WRITER, LAYOUT).decode(binary(ROWS))
    assert decoded.columns.to_pylist() == [row["columns"] for row in GOLDEN["rows"]]
    assert decoded.exact.all()


def test_columns_that_were_renamed_still_give_their_bytes() -> None:
    """Slots name columns by id, and a layout's names may change."""
    renamed = Layout.from_text(json.dumps(GOLDEN["layout"]).replace('"name": "price"', '"name": "cost"'))
    assert renamed != LAYOUT
    codec = bind(WRITER, renamed)
    decoded = codec.decode(binary(ROWS))
    assert decoded.shapes is not None
    assert codec.encode(decoded.columns, decoded.shapes).to_pylist() == ROWS
