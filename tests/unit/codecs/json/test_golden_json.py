"""Columns and shapes that were stored once give the same bytes for ever."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.json.codec import CODEC_VERSION, bind
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.columns.layout import Layout

from .samples import WRITER, binary

GOLDEN = Path(__file__).parents[3] / "golden/codecs/json"
VERSIONS = range(1, CODEC_VERSION + 1)


def golden(version: int) -> tuple[Writer, dict[str, Any], list[bytes]]:
    content = json.loads((GOLDEN / f"v{version}.json").read_text())
    return replace(WRITER, codec=version), content, [row["bytes"].encode() for row in content["rows"]]


def layout_of(content: dict[str, Any]) -> Layout:
    return Layout.from_text(json.dumps(content["layout"]))


@pytest.mark.parametrize("version", VERSIONS)
def test_golden_columns_give_their_bytes(version: int) -> None:
    writer, content, rows = golden(version)
    layout = layout_of(content)
    codec = bind(writer, layout)
    codec.shapes = content["shapes"]
    columns = pa.RecordBatch.from_pylist([row["columns"] for row in content["rows"]], arrow_schema(layout.columns))
    shapes = np.array([row["shape"] for row in content["rows"]], np.int32)
    assert codec.encode(columns, shapes).to_pylist() == rows


@pytest.mark.parametrize("version", VERSIONS)
def test_golden_bytes_give_their_columns(version: int) -> None:
    writer, content, rows = golden(version)
    codec = bind(writer, layout_of(content))
    decoded = codec.decode(binary(rows))
    assert decoded.columns.to_pylist() == [row["columns"] for row in content["rows"]]
    assert decoded.exact.all()
    assert codec.shapes == content["shapes"]


@pytest.mark.parametrize("version", VERSIONS)
def test_columns_that_were_renamed_still_give_their_bytes(version: int) -> None:
    """Slots name columns by id, and a layout's names may change."""
    writer, content, rows = golden(version)
    renamed = Layout.from_text(json.dumps(content["layout"]).replace('"name": "price"', '"name": "cost"'))
    assert renamed != layout_of(content)
    codec = bind(writer, renamed)
    decoded = codec.decode(binary(rows))
    assert decoded.shapes is not None
    assert codec.encode(decoded.columns, decoded.shapes).to_pylist() == rows


def test_files_of_the_first_version_never_get_what_it_does_not_have() -> None:
    """A reader of that version could not read them."""
    _, content, rows = golden(2)
    codec = bind(replace(WRITER, codec=1), layout_of(content))
    decoded = codec.decode(binary(rows))
    assert decoded.errors.rows == []
    assert {row["at"] for row in decoded.columns.to_pylist()} == {None}
    assert decoded.exact.tolist() == [not {"at", "tags", "new"} & json.loads(row).keys() for row in rows]


def test_rules_of_a_later_version_are_refused() -> None:
    with pytest.raises(ValueError, match="update Lakestream"):
        bind(replace(WRITER, codec=CODEC_VERSION + 1), Layout())
