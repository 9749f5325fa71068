"""How a column is written follows from its first rows, and never changes what is read back."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakestream.storage.tablefile.write.encodings import encodings_of

ROWS = 3_000
CHANCE = random.Random(7)
COLUMNS = pa.table(
    {
        "id": pa.array(range(10**12, 10**12 + ROWS)),
        "at": pa.array([1_763_000_000_000_000 + 1_000 * row for row in range(ROWS)], pa.timestamp("us", "UTC")),
        "customer": pa.array([CHANCE.randrange(100_000) for _ in range(ROWS)], pa.int32()),
        "spike": pa.array([CHANCE.choice((0, 0, 1, CHANCE.getrandbits(62))) for _ in range(ROWS)]),
        "city": pa.array([CHANCE.choice(("Oslo", "Lima")) for _ in range(ROWS)]),
        "paid": pa.array([CHANCE.random() < 0.7 for _ in range(ROWS)]),
        "price": pa.array([CHANCE.random() for _ in range(ROWS)]),
        "nothing": pa.nulls(ROWS, pa.int64()),
    }
)


def test_few_values_get_a_dictionary() -> None:
    assert encodings_of(COLUMNS).few_valued == ["city", "paid", "nothing"]


def test_numbers_that_zstd_makes_no_smaller_are_not_compressed() -> None:
    assert encodings_of(COLUMNS).bare == ["paid", "customer"]


def test_numbers_become_deltas_where_that_is_smaller() -> None:
    assert encodings_of(COLUMNS).deltas == ["id", "at", "customer"]


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_very_few_rows_tell_something_too(rows: int) -> None:
    found = encodings_of(COLUMNS.slice(0, rows))
    assert {name for names in found for name in names} <= set(COLUMNS.column_names)


def test_deltas_hold_the_most_distant_numbers() -> None:
    ends = pa.table({"id": pa.array([-(2**63), 2**63 - 1, None, 0, -1] * 500)})
    out = pa.BufferOutputStream()
    pq.write_table(ends, out, use_dictionary=False, column_encoding={"id": "DELTA_BINARY_PACKED"})
    assert pq.read_table(pa.BufferReader(out.getvalue())).column("id") == ends.column("id")
