"""The bytes in which a segment row keeps its results."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.metadata.rules.kept_results import decode_results, encode_results
from lakestream.model.errors import Corrupt
from lakestream.model.segment import BatchResult, BatchStatus

an_offset = st.integers(-1, 2**63 - 1)
a_result = st.builds(BatchResult, st.sampled_from(BatchStatus), an_offset, an_offset, an_offset)


@given(st.lists(a_result, max_size=20))
def test_results_come_back_as_they_were(results: list[BatchResult]) -> None:
    assert decode_results(encode_results(results)) == tuple(results)


@pytest.mark.parametrize("kept", [b"", b"\x02", b"\x01" + bytes(25), b"\x01" + bytes(27)])
def test_other_bytes_are_refused(kept: bytes) -> None:
    with pytest.raises(Corrupt, match="restore"):
        decode_results(kept)


def test_the_layout_is_the_documented_one() -> None:
    assert encode_results([BatchResult(BatchStatus.OUT_OF_ORDER, 5, -1, 3)]).hex() == (
        "01" + "0002" + "0000000000000005" + "ffffffffffffffff" + "0000000000000003"
    )
