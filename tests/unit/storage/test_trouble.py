"""Trouble with a store is told when it begins, when it changes and when it is over."""

from structlog.testing import capture_logs

from lakestream.model.errors import StorageFull, StoreUnavailable
from lakestream.storage.wal.trouble import Trouble


def test_trouble_is_told_once_until_it_is_over() -> None:
    trouble = Trouble()
    with capture_logs() as said:
        for _ in range(100):
            trouble.met(StorageFull("the disk is full"))
        trouble.met(StoreUnavailable("the store is away"))
        trouble.is_over()
        trouble.is_over()
        trouble.met(StorageFull("full again"))
    assert [line.get("error", line["event"]) for line in said] == [
        "the disk is full",
        "the store is away",
        "batches are made durable again",
        "full again",
    ]
