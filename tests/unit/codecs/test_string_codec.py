"""Text values: what is UTF-8 comes back, what is not says so."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.string.codec import CODEC_VERSION, bind, wanted_columns
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted

WRITER = Writer(number=0, format="string", codec=CODEC_VERSION, framed=False)
LAYOUT = Layout().merged(wanted_columns())


@given(st.lists(st.binary(max_size=6) | st.text(max_size=6).map(str.encode), max_size=20))
def test_text_comes_back_and_all_else_is_an_error(rows: list[bytes]) -> None:
    codec = bind(WRITER, LAYOUT)
    decoded = codec.decode(pa.array(rows, pa.binary()))
    good = [is_text(row) for row in rows]
    assert decoded.exact.tolist() == good
    assert decoded.errors.rows == [row for row, is_good in enumerate(good) if not is_good]
    assert all("not UTF-8" in reason for reason in decoded.errors.reasons)
    encoded = codec.encode(decoded.columns, None).to_pylist()
    assert encoded == [row if is_good else None for row, is_good in zip(rows, good, strict=True)]


def test_a_layout_without_a_text_column_keeps_bytes() -> None:
    layout = Layout().merged([Wanted(key="value", kind="long")])
    decoded = bind(WRITER, layout).decode(pa.array([b"a"], pa.binary()))
    assert (decoded.exact.tolist(), decoded.columns.to_pylist()) == ([False], [{"value": None}])


def is_text(row: bytes) -> bool:
    try:
        row.decode()
    except UnicodeDecodeError:
        return False
    return True
