"""Run: batches ready to send, from a segment or a table file."""

from typing import NamedTuple

from lakestream.storage.records.header import Bytes


class Run(NamedTuple):
    """Batches in offset order, with their true offsets. A reader goes on at `next_offset`."""

    parts: list[Bytes]
    bytes: int
    next_offset: int
