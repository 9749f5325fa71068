"""What the updates of a commit need: Write for rows, Alter for everything else."""

from typing import Any

import pytest

from lakestream.catalog.names.preparing import operations_of
from lakestream.model.access import Operation

ADD: Any = {"action": "add-snapshot", "snapshot": {"snapshot-id": 7}}


def moved(to: object, **more: object) -> Any:
    return {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": to, **more}


@pytest.mark.parametrize(
    ("updates", "operations"),
    [
        ([], [Operation.WRITE]),
        ([ADD, moved(7)], [Operation.WRITE]),
        ([moved(7), ADD], [Operation.WRITE]),
        ([moved(7)], [Operation.ALTER]),
        ([ADD, moved(6)], [Operation.WRITE, Operation.ALTER]),
        ([moved(6, snapshot={"snapshot-id": 6})], [Operation.ALTER]),
        ([{"action": "set-properties", "updates": {}}], [Operation.ALTER]),
        ([ADD, {"action": "add-schema"}], [Operation.WRITE, Operation.ALTER]),
        ([{"action": "remove-snapshots", "snapshot-ids": [7]}], [Operation.ALTER]),
        ([{"action": ["add-snapshot"]}], [Operation.ALTER]),
        ([{"action": "add-snapshot", "snapshot": [7]}, moved([7])], [Operation.WRITE, Operation.ALTER]),
        ([{}], [Operation.ALTER]),
    ],
)
def test_updates_need_what_they_change(updates: list[Any], operations: list[Operation]) -> None:
    assert operations_of(updates) == operations
