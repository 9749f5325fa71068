"""Batches as they are sent: offsets written in front, everything else as it was produced."""

import pytest
from crc32c import crc32c

from lakestream.model.errors import SegmentLost
from lakestream.model.place import Span
from lakestream.storage.reader.placed import batches_of, run_from
from lakestream.storage.records.header import read_header
from lakestream.storage.records.run import Run
from tests.unit.storage.batches import record_batch

FIRST, SECOND, THIRD = record_batch(3), record_batch(2, value=b"w" * 50), record_batch(1)
WHOLE = memoryview(FIRST + SECOND + THIRD)
SPAN = Span(100, 105, "S", 4, len(WHOLE), 1_002, -1)


def sent(run: Run) -> bytes:
    return b"".join(run.parts)


@pytest.mark.parametrize("pieces", [[WHOLE], [memoryview(b) for b in (FIRST, SECOND, THIRD)]], ids=["block", "parts"])
def test_offsets_run_through_the_batches_of_a_span(pieces: list[memoryview]) -> None:
    assert [(b.base_offset, b.last_offset) for b in batches_of(SPAN, pieces)] == [(100, 102), (103, 104), (105, 105)]


def test_a_fetch_in_the_middle_of_a_batch_gets_the_whole_batch() -> None:
    run = run_from(SPAN, [WHOLE], 104, 1 << 20, at_least_one=True)
    assert read_header(sent(run)).base_offset == 103
    assert run.next_offset == 106
    assert run.bytes == len(sent(run)) == len(SECOND) + len(THIRD)


def test_only_the_sixteen_bytes_in_front_of_the_magic_change() -> None:
    run = run_from(SPAN, [WHOLE], 100, len(FIRST), at_least_one=True)
    assert sent(run)[16:] == FIRST[16:]
    assert read_header(sent(run)).base_offset == 100


def test_what_does_not_fit_is_left_for_the_next_fetch() -> None:
    run = run_from(SPAN, [WHOLE], 100, len(FIRST) + 10, at_least_one=True)
    assert (run.bytes, run.next_offset) == (len(FIRST), 103)


def test_a_batch_larger_than_the_limit_is_sent_only_if_something_must_be() -> None:
    assert run_from(SPAN, [WHOLE], 100, 10, at_least_one=True).bytes == len(FIRST)
    assert run_from(SPAN, [WHOLE], 100, 10, at_least_one=False).bytes == 0


def test_log_append_time_is_patched_in_and_the_checksum_is_right() -> None:
    run = run_from(SPAN._replace(append_ms=9_999), [WHOLE], 105, 1 << 20, at_least_one=True)
    header = read_header(sent(run))
    assert (header.is_log_append_time, header.max_timestamp_ms) == (True, 9_999)
    assert header.crc == crc32c(sent(run)[21:])


def test_records_that_were_damaged_in_storage_are_not_sent_under_a_right_checksum() -> None:
    damaged = bytearray(WHOLE)
    damaged[-1] ^= 1
    run = run_from(SPAN._replace(append_ms=9_999), [memoryview(damaged)], 105, 1 << 20, at_least_one=True)
    assert read_header(sent(run)).crc != crc32c(sent(run)[21:])


def test_records_are_sent_from_where_they_lie_also_with_log_append_time() -> None:
    for append_ms in (-1, 9_999):
        run = run_from(SPAN._replace(append_ms=append_ms), [WHOLE], 100, 1 << 20, at_least_one=True)
        assert [part.obj is WHOLE.obj for part in map(memoryview, run.parts)] == [False, True] * 3


@pytest.mark.parametrize("cut", [1, 30, 61, len(THIRD)])
def test_a_segment_cut_short_is_named(cut: int) -> None:
    with pytest.raises(SegmentLost, match="segment S"):
        list(batches_of(SPAN, [WHOLE[:-cut]]))


def test_bytes_that_are_no_batch_are_named() -> None:
    with pytest.raises(SegmentLost, match="segment S"):
        list(batches_of(SPAN, [memoryview(b"\xff" * len(WHOLE))]))
