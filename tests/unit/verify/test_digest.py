"""Digests: the same however the records were cut, different whenever a record is."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lakestream.table.verify.digest import CHUNK_OFFSETS, Chunk, Digests, add_hashes, differing

Records = dict[int, int]
records = st.dictionaries(st.integers(0, 3 * CHUNK_OFFSETS), st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=50)


def digests_of(*parts: Records) -> Digests:
    found: Digests = {}
    for part in parts:
        offsets: NDArray[np.int64] = np.array(sorted(part), np.int64)
        add_hashes(found, 0, offsets, np.array([part[offset] for offset in sorted(part)], np.int64))
    return found


@given(records, st.integers(0, 3 * CHUNK_OFFSETS))
def test_it_does_not_matter_where_a_side_was_cut(all: Records, cut: int) -> None:
    below = {offset: hash for offset, hash in all.items() if offset < cut}
    above = {offset: hash for offset, hash in all.items() if offset >= cut}
    assert differing(digests_of(all), digests_of(below, above)) == []


@given(records, st.data())
def test_a_record_that_is_missing_doubled_or_changed_shows_in_its_chunk(all: Records, data: st.DataObject) -> None:
    offset = data.draw(st.sampled_from(sorted(all)))
    rest = {other: hash for other, hash in all.items() if other != offset}
    whole = digests_of(all)
    for damaged in (
        digests_of(rest),
        digests_of(all, {offset: all[offset]}),
        digests_of(rest, {offset: all[offset] ^ 1}),
    ):
        assert differing(whole, damaged) == [Chunk(0, offset // CHUNK_OFFSETS)]
