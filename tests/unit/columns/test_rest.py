"""The column that takes what has no column: part of the layout, with the name and id of a system column."""

import json
from pathlib import Path

from lakestream.contract.columns.evolving import evolved_fields
from lakestream.contract.columns.iceberg import iceberg_field
from lakestream.contract.columns.kinds import LONG
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.rest import with_rest
from lakestream.contract.columns.wanted import Wanted
from lakestream.storage.tablefile.format.columns import (
    ALL,
    HEADER_KEY_ID,
    HEADER_VALUE_ID,
    HEADERS_ELEMENT_ID,
    RESERVED_IDS,
    iceberg_fields,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "columns" / "rest.json"
PLAIN = Layout().merged([Wanted(key="a", kind=LONG)])


def test_it_is_the_field_of_the_golden_file_and_no_other_column_has_its_id() -> None:
    field = iceberg_field(with_rest(PLAIN).columns[-1])
    assert field == json.loads(GOLDEN.read_text())
    assert field["id"] in RESERVED_IDS
    others = {HEADERS_ELEMENT_ID, HEADER_KEY_ID, HEADER_VALUE_ID, *(column.field_id for column in ALL)}
    assert field["id"] not in others


def test_a_layout_gets_it_once_and_keeps_its_numbers() -> None:
    layout = with_rest(PLAIN)
    assert with_rest(layout) is layout
    assert Layout.from_text(layout.to_text()) == layout
    assert [column.id for column in layout.merged([Wanted(key="b", kind=LONG)]).columns if column.id < 1000] == [1, 2]


def test_a_table_shows_it_under_its_own_name() -> None:
    fields = [iceberg_field(PLAIN.columns[0]), *iceberg_fields()]
    evolved = evolved_fields(fields, PLAIN, with_rest(PLAIN))
    assert [field["name"] for field in evolved][:3] == ["a", "__rest", "__partition"]
