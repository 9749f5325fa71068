"""What version 1 of the codec has written once, it writes for ever."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from lakestream.contract.codecs.avro.codec import bind
from lakestream.contract.codecs.codec import Writer
from lakestream.contract.columns.layout import Layout

HERE = Path(__file__).parents[3] / "golden" / "codecs" / "avro"
NAMES = ["evolved", "flat", "logical", "nested"]


def test_no_golden_file_is_forgotten() -> None:
    assert sorted(path.stem for path in HERE.glob("*.json")) == NAMES


def test_rules_of_a_newer_version_are_refused() -> None:
    facts = json.loads((HERE / "flat.json").read_text())
    writer = Writer.from_json({**facts["writer"], "codec": 2})
    with pytest.raises(ValueError, match="a newer Lakestream reads it"):
        bind(writer, Layout())


@pytest.mark.parametrize("name", NAMES)
def test_columns_and_bytes_of_version_1_are_what_they_were(name: str) -> None:
    facts = json.loads((HERE / f"{name}.json").read_text())
    rows = pa.array([bytes.fromhex(row) for row in facts["rows"]], type=pa.binary())
    with pa.ipc.open_file(HERE / f"{name}.arrow") as file:
        columns = file.get_batch(0)
    codec = bind(Writer.from_json(facts["writer"]), Layout.from_text(json.dumps(facts["layout"])))
    assert codec.encode(columns, None).equals(rows)
    decoded = codec.decode(rows)
    assert decoded.columns.equals(columns, check_metadata=True)
    assert decoded.exact.all()
