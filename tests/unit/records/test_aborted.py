"""Batches of aborted transactions, by producer and offset."""

from lakestream.model.transaction import AbortedRange
from lakestream.storage.records.aborted import NOTHING_ABORTED, AbortedBatches


def test_a_batch_is_aborted_between_the_first_offset_of_its_producers_transaction_and_the_marker() -> None:
    aborted = AbortedBatches([AbortedRange(7, 20, 25), AbortedRange(7, 3, 9), AbortedRange(8, 5, 30)])
    held = {id: [at for at in range(40) if aborted.hold(id, at)] for id in (7, 8, 9)}
    assert held == {7: [*range(3, 9), *range(20, 25)], 8: list(range(5, 30)), 9: []}
    assert not NOTHING_ABORTED.hold(7, 3)
