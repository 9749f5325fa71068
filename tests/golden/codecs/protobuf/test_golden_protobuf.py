"""Values that an earlier version read and wrote are read and written alike."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.protobuf.codec import bind
from lakestream.contract.columns.layout import Layout

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("v*.json")))
def test_golden_values_are_the_golden_rows_and_back(name: str) -> None:
    content = json.loads((HERE / name).read_text())
    values = [bytes.fromhex(value) for value in content["values"]]
    codec = bind(Writer.from_json(content["writer"]), Layout.from_text(content["layout"]))
    decoded = codec.decode(pa.array(values, pa.binary()))
    assert [repr(row) for row in decoded.columns.to_pylist()] == content["rows"]
    assert decoded.exact.all()
    assert codec.encode(decoded.columns, None).to_pylist() == values
