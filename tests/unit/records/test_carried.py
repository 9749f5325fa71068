"""A checksum carried over a change: what the library says of sound bytes, and still wrong for damaged ones."""

import pytest
from crc32c import crc32c
from hypothesis import example, given
from hypothesis import strategies as st

from lakestream.storage.records.carried import carried_crc

ONCE = 64 * 1024
"""Zeros that are taken in one step."""


def xored(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


@given(change=st.binary(min_size=1, max_size=40), before=st.binary(max_size=40), behind=st.binary(max_size=300))
@example(change=b"\x00", before=b"", behind=b"")
def test_it_is_the_checksum_of_the_changed_bytes(change: bytes, before: bytes, behind: bytes) -> None:
    old = bytes(range(40))[: len(change)]
    crc = crc32c(before + old + behind)
    assert carried_crc(crc, change, len(behind)) == crc32c(before + xored(old, change) + behind)


@pytest.mark.parametrize("count", [ONCE - 1, ONCE, ONCE + 1, 2 * ONCE, 3 * ONCE + 7])
def test_any_number_of_bytes_may_follow(count: int) -> None:
    behind = b"record " * (count // 7) + b"x" * (count % 7)
    assert carried_crc(crc32c(b"old" + behind), xored(b"old", b"new"), count) == crc32c(b"new" + behind)


@given(change=st.binary(min_size=4, max_size=4), wrong=st.integers(1, 2**32 - 1))
def test_a_wrong_checksum_stays_wrong_by_as_much(change: bytes, wrong: int) -> None:
    crc = crc32c(b"head" + b"records")
    assert carried_crc(crc ^ wrong, change, 7) == crc32c(xored(b"head", change) + b"records") ^ wrong
