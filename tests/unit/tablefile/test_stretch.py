"""Some rows of a stretch: the same ones of every column, however many they are and whatever is in them."""

from dataclasses import replace

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.records.samples import Row, dense_rows
from tests.unit.tablefile.files import stretch_of

TYPED = pa.schema(
    [("text", pa.string()), ("nothing", pa.string()), ("list", pa.list_(pa.int64())), ("flag", pa.bool_())]
)


def typed(count: int) -> pa.RecordBatch:
    columns = [
        [str(row) for row in range(count)],
        [None] * count,
        [[row] if row % 3 else None for row in range(count)],
        [row % 2 == 0 for row in range(count)],
    ]
    return pa.record_batch([pa.array(*each) for each in zip(columns, TYPED.types, strict=True)], schema=TYPED)


@settings(deadline=None)
@given(rows=dense_rows(min_size=1), skipped=st.integers(0, 5), data=st.data())
def test_the_rows_that_are_meant_are_those_of_every_column(rows: list[Row], skipped: int, data: st.DataObject) -> None:
    whole = replace(stretch_of(rows, partition=0), typed=typed(len(rows))).slice(min(skipped, len(rows) - 1))
    count = whole.rows.num_rows
    mask = pa.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), pa.bool_())
    part = whole.where(mask)
    if part is None:
        assert not mask.true_count
        return
    assert whole.typed is not None and part.typed is not None
    assert part.rows.to_pylist() == whole.rows.filter(mask).to_pylist()
    assert part.typed.to_pylist() == whole.typed.filter(mask).to_pylist()
    assert part.last_offset == part.rows.column("offset")[-1].as_py()
    part.rows.validate(full=True)
    part.typed.validate(full=True)
