"""Records that between them use every part of the format: nulls, empties, headers, odd bytes, times out of order."""

import time
from collections.abc import Sequence

from .clients.client import Record

STARTED_MS = int(time.time() * 1000) - 3_600_000  # an hour ago: explicit, and young enough for any retention
STEP_MS = 1_000
LATEST_MS = STARTED_MS + 3_000_000  # of one record in the middle; no other is as late
COUNT = 240  # with the big value, several batches of 16 KiB


def sample_records(*, null_header_values: bool) -> list[Record]:
    return [
        Record(key=_key(at), value=_value(at), headers=_headers(at, null_header_values), timestamp_ms=_timestamp_ms(at))
        for at in range(COUNT)
    ]


def first_not_older(records: Sequence[Record], timestamp_ms: int) -> int:
    """By exhaustive search, what a broker's lookup by time must find; the end where there is none."""
    return next((at for at, record in enumerate(records) if record.timestamp_ms >= timestamp_ms), len(records))


def _key(at: int) -> bytes | None:
    match at % 4:
        case 0:
            return None
        case 1 if at == 1:
            return b""
        case _:
            return f"key-{at % 17}".encode()


def _value(at: int) -> bytes | None:
    if at % 10 == 3:
        return None
    if at == 4:
        return b""
    if at == 5:
        return bytes(range(256))
    if at == 6:
        return "Ærøskøbing 東京 🛰".encode()
    if at == 50:
        return bytes(at * 7 % 251 for at in range(20_000))
    return f'{{"at":{at},"city":"Lisbon","note":"{"ember falcon " * (at % 9)}"}}'.encode()


def _headers(at: int, null_values: bool) -> tuple[tuple[str, bytes | None], ...]:
    match at % 5:
        case 1:
            return (("trace", f"{at:08x}".encode()),)
        case 2:
            # A name may be repeated; the order counts.
            return (("hop", b"first"), ("hop", b"second"), ("clé", b"\x00\xff"))
        case 3:
            return (("empty", b""), ("null", None if null_values else b"-"))
        case _:
            return ()


def _timestamp_ms(at: int) -> int:
    if at == 7:
        return STARTED_MS + 2 * STEP_MS + 500  # older than its predecessors
    if at == COUNT - 60:
        return LATEST_MS
    return STARTED_MS + at * STEP_MS
