"""The least and the greatest of many byte strings, in slices, between nulls, whatever their beginnings share."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.storage.tablefile.write.ends import ends

BEGINNINGS = st.sampled_from([b"", b"\x00", b"same-beginning-", b"exactly8", b"\xff" * 9])
VALUES = st.one_of(st.none(), st.builds(bytes.__add__, BEGINNINGS, st.binary(max_size=20)))


@settings(deadline=None)  # the first call compiles
@given(before=st.lists(VALUES, max_size=9), values=st.lists(VALUES, max_size=12), after=st.lists(VALUES, max_size=3))
def test_they_are_those_of_python(
    before: list[bytes | None], values: list[bytes | None], after: list[bytes | None]
) -> None:
    array = pa.array([*before, *values, *after], pa.binary()).slice(len(before), len(values))
    present = [value for value in values if value is not None]
    assert ends(array) == ((min(present), max(present)) if present else None)


def test_a_value_comes_before_what_it_begins_and_zeros_at_the_end_count() -> None:
    assert ends(pa.array([b"ab\x00", b"ab", b"ab\x00\x00"])) == (b"ab", b"ab\x00\x00")
    assert ends(pa.array([b"", b"\x00"])) == (b"", b"\x00")


def test_text_is_ordered_by_its_characters() -> None:
    texts = ["z", "é", "\uffff", "\U0001f600", "aaaaaaaab", "aaaaaaaa"]
    assert ends(pa.array(texts)) == (min(texts).encode(), max(texts).encode())
