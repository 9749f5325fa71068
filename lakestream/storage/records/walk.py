"""Checks every record of a batch without taking the batch apart.

The walk proves that lengths fit into each other, that there are exactly as many records as the header counts, numbered
0, 1, 2 and so on, that nothing is left over, and that header keys are text. Every Kafka client and our decoder can read
records that pass. The walk works on the received bytes in place, and finds the true times, which a header may misstate.
"""

from typing import NamedTuple

from lakestream.storage.records.arrays import as_array
from lakestream.storage.records.errors import InvalidRecord, RecordError
from lakestream.storage.records.faults import OK, SENTENCES, TRAILING_BYTES
from lakestream.storage.records.header import NO_TIMESTAMP, Bytes
from lakestream.storage.records.kernels.limits import INT64_MAX
from lakestream.storage.records.kernels.walking import walk_records


class Walked(NamedTuple):
    """Facts found by the walk."""

    max_timestamp_ms: int
    min_timestamp_ms: int
    """The least time of the records that have one; -1 when none has."""
    has_null_key: bool


def check_records(records: Bytes, *, count: int, base_timestamp_ms: int, at: int = 0) -> Walked:
    """Walk `count` uncompressed records that lie in `records` from `at` to the end, as a producer writes them."""
    fault, record, max_time, min_time, null_key = walk_records(
        as_array(records), at, len(records), count, base_timestamp_ms
    )
    if fault != OK:
        raise _refusal(fault, record)
    return Walked(max_time, NO_TIMESTAMP if min_time == INT64_MAX else min_time, null_key)


def _refusal(fault: int, record: int) -> InvalidRecord:
    sentence = SENTENCES[fault]
    if fault == TRAILING_BYTES:
        return InvalidRecord(f"{sentence}: correct the producer")
    return InvalidRecord(f"record {record}: {sentence}", (RecordError(record, sentence),))
