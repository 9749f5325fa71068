"""Rows that engines appended to a topic's table: they have offsets in the metadata store alone, and no ledger.

A verification passes over them where it follows ledgers and hashes. It checks that each of their offsets has a record,
and that each file has as many rows as offsets. It does not compose their values again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakestream.model.job import AppendedSpan
from lakestream.table.verify.rows import DataFileRow


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedStretches:
    spans: Sequence[AppendedSpan] = ()

    @property
    def files(self) -> frozenset[str]:
        return frozenset(span.file for span in self.spans)

    def passed(self, number: int, end: int) -> int:
        """The end of the appended rows of a partition that follow `end` without a gap."""
        for span in sorted(self.spans, key=lambda span: span.base_offset):
            if span.number == number and span.base_offset <= end <= span.last_offset:
                end = span.last_offset + 1
        return end

    def among(self, number: int, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of a partition's offsets are of appended rows."""
        found = np.zeros(len(offsets), np.bool_)
        for span in self.spans:
            if span.number == number:
                found |= (offsets >= span.base_offset) & (offsets <= span.last_offset)
        return found

    def row_problems(self, files: Sequence[DataFileRow]) -> Iterator[str]:
        rows = {file.path: file.rows for file in files}
        for span in self.spans:
            offsets = span.last_offset - span.base_offset + 1
            if span.file in rows and rows[span.file] != offsets:
                yield f"{span.file} has {rows[span.file]} rows by its manifest, and {offsets} offsets"

    def record_problems(self, read: Mapping[int, tuple[int, int]], found: Mapping[int, int]) -> Iterator[str]:
        """`read`: the offsets [start, end) that were read of each partition; `found`: its records among them that are
        appended rows."""
        for number, (start, end) in read.items():
            expected = sum(
                max(0, min(end, span.last_offset + 1) - max(start, span.base_offset))
                for span in self.spans
                if span.number == number
            )
            if expected != found.get(number, 0):
                yield f"partition {number}: {expected} inserted rows are {found.get(number, 0)} records of the topic"


NOTHING_APPENDED = AppendedStretches()
