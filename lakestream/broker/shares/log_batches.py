"""The batches of a run that was read from the log: where they begin and end, and which of them have records to show."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lakestream.broker.shares.acquiring import ReadBatch
from lakestream.model.transaction import AbortedRange
from lakestream.storage.records.header import HEADER_BYTES, BatchHeader, Bytes, read_header


class LogBatch(NamedTuple):
    header: BatchHeader
    parts: list[Bytes]

    @property
    def last_offset(self) -> int:
        return self.header.base_offset + self.header.last_offset_delta

    def read(self, aborted: Sequence[AbortedRange]) -> ReadBatch:
        """`aborted` is empty for a group that reads uncommitted records."""
        header = self.header
        shown = not header.is_control and not (
            header.is_transactional
            and any(
                one.producer_id == header.producer_id and one.first_offset <= header.base_offset <= one.last_offset
                for one in aborted
            )
        )
        return ReadBatch(header.base_offset, self.last_offset, shown)


def log_batches(parts: Sequence[Bytes]) -> Iterator[LogBatch]:
    """Parts hold whole batches one after the other; a batch may span parts, and a part may hold several."""
    rest = [memoryview(part) for part in parts if len(part)]
    rest.reverse()
    while rest:
        header = read_header(_joined(rest, HEADER_BYTES))
        yield LogBatch(header, _taken(rest, header.total_bytes))


def _joined(rest: list[memoryview], count: int) -> Bytes:
    """The first bytes, copied only if they lie in several parts."""
    if len(rest[-1]) >= count:
        return rest[-1][:count]
    joined = bytearray()
    for part in reversed(rest):
        joined += part[: count - len(joined)]
        if len(joined) == count:
            break
    return joined


def _taken(rest: list[memoryview], count: int) -> list[Bytes]:
    taken: list[Bytes] = []
    while count and rest:
        part = rest.pop()
        if len(part) > count:
            rest.append(part[count:])
            part = part[:count]
        taken.append(part)
        count -= len(part)
    return taken
