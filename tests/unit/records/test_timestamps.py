"""Looking for a time inside a batch finds the record that a plain search would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.storage.records.errors import CorruptBatch
from lakestream.storage.records.header import HEADER_BYTES, Codec, with_log_append_time
from lakestream.storage.records.timestamps import first_at_or_after, max_timestamp
from tests.unit.records.samples import BYTES_MAX, NOW_MS, ROWS, Row, gapped_rows, one_batch, with_fields, with_records


@given(rows=gapped_rows().filter(bool), codec=st.sampled_from(Codec), data=st.data())
def test_lookups_find_the_very_record(rows: list[Row], codec: Codec, data: st.DataObject) -> None:
    rows = [row for row in rows if row["offset"] - rows[0]["offset"] < 2**31]
    batch, base = one_batch(rows, codec), rows[0]["offset"]
    times = [row["timestamp"] for row in rows]
    wanted = data.draw(st.sampled_from(times) | st.integers(-2, NOW_MS * 2))

    found = first_at_or_after(batch, wanted, bytes_max=BYTES_MAX)
    expected = next(((row["offset"] - base, row["timestamp"]) for row in rows if row["timestamp"] >= wanted), None)
    assert found == expected

    first_of_max = rows[times.index(max(times))]
    assert max_timestamp(batch, bytes_max=BYTES_MAX) == (first_of_max["offset"] - base, max(times))


@pytest.mark.parametrize("codec", Codec)
def test_where_the_brokers_time_counts_all_records_have_it(codec: Codec) -> None:
    batch = with_log_append_time(one_batch(ROWS, codec), 1000)
    assert first_at_or_after(batch, 1000, bytes_max=BYTES_MAX) == (0, 1000)
    assert first_at_or_after(batch, 1001, bytes_max=BYTES_MAX) is None
    assert max_timestamp(batch, bytes_max=BYTES_MAX) == (0, 1000)


def test_only_the_first_batch_of_a_run_is_looked_at() -> None:
    assert max_timestamp(one_batch(ROWS) + b"more", bytes_max=BYTES_MAX) == (2, NOW_MS + 9)


def test_a_batch_without_records_has_no_times() -> None:
    empty = with_records(one_batch(ROWS), b"", record_count=0)
    assert first_at_or_after(empty, 0, bytes_max=BYTES_MAX) is None
    assert max_timestamp(empty, bytes_max=BYTES_MAX) is None


def test_broken_records_are_corrupt_not_a_wrong_answer() -> None:
    batch = one_batch(ROWS)
    for broken in (with_fields(batch, record_count=9), with_records(batch, batch[HEADER_BYTES:-1])):
        with pytest.raises(CorruptBatch):
            max_timestamp(broken, bytes_max=BYTES_MAX)
