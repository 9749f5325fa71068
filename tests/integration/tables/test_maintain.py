"""`lakestream maintain` with a whole `up`: shows what it would do, does it on Spark, and says what it did."""

import json
from typing import Any

from tests.integration.tables.up_topics import PARTITIONS, consume, produce
from tests.integration.up_process import Done, Up, command


def client(up: Up, *arguments: str) -> Done:
    return command(*arguments, "--http", up.http)


def told(up: Up, *arguments: str) -> Any:
    done = client(up, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_small_files_are_merged_on_request(up: Up) -> None:
    up.run("topic", "create", "crumbs", "--partitions", str(PARTITIONS))
    for first in (0, 50, 100):
        produce(up, "crumbs", 50, first=first)
        told(up, "compact", "crumbs")
    before = consume(up, "crumbs", 150)
    (planned,) = told(up, "maintain", "crumbs", "--dry-run")["tables"]
    assert (planned["files"], planned["small_files"], planned["mergeable_files"]) == (3, 3, 3)
    assert (planned["merged_files"], planned["tied_files"], planned["advice"]) == (1, 0, None)
    (merged,) = told(up, "maintain", "crumbs")["tables"]
    assert (merged["topic"], merged["files"], merged["into"], merged["reason"]) == ("crumbs", 3, 1, None)
    (after,) = told(up, "maintain", "crumbs", "--dry-run")["tables"]
    assert (after["files"], after["mergeable_files"]) == (1, 0)
    assert consume(up, "crumbs", 150) == before
    nothing = client(up, "maintain", "crumbs")
    assert nothing.returncode == 0 and "nothing to merge" in nothing.stdout + nothing.stderr


def test_a_topic_that_does_not_exist_cannot_be_maintained(up: Up) -> None:
    done = client(up, "maintain", "nowhere")
    assert done.returncode == 1 and "nowhere" in done.stderr
