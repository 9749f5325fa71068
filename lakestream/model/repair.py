"""Repairs of values that were set aside, merges of a table's files, and rebuilds: the request, and its result.

asked (gateway) -> done | failed (pipeline)        kept for an hour, for the client that waits for the answer
"""

import json
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from lakestream.model.errors import Exhausted
from lakestream.model.topic import TopicId

RepairId = str
"""A ULID."""

RecordPlace = tuple[int, int]
"""Partition and offset of a record."""


class RepairAction(StrEnum):
    RETRY = "retry"
    DISCARD = "discard"


MERGE_REQUEST = json.dumps({"action": "merge-files"})
"""The request to merge small files of the topic's table now. Values are not touched."""

REBUILD_REQUEST = json.dumps({"action": "rebuild"})
"""The request to make `main` of the topic's table again from `log`."""


class RepairState(IntEnum):
    """Stored: numbers are never reused."""

    ASKED = 1
    DONE = 2
    FAILED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    id: RepairId
    topic: TopicId
    request: str
    """The request as JSON. The client and the pipeline read it, the store does not."""
    state: RepairState = RepairState.ASKED
    answer: str | None = None
    """JSON once it is done; a message if it failed."""

    @property
    def merges_files(self) -> bool:
        return self.request == MERGE_REQUEST

    @property
    def rebuilds_main(self) -> bool:
        return self.request == REBUILD_REQUEST

    @property
    def is_about_values(self) -> bool:
        return not self.merges_files and not self.rebuilds_main


class TooManyRepairs(Exhausted):
    """The maximum number of repairs is waiting. Is a pipeline running?"""
