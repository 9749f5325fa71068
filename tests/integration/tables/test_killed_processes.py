"""Processes that are killed, or sleep, while a job is under way: no row is missing or doubled, no file stays behind.

Moments are seen from outside: an object of the job has appeared in the store, and the process is hit.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lakestream.cli.client.gateway_client import ask_gateway
from lakestream.cli.processes.java import missing_java
from lakestream.cli.service import Gateway
from lakestream.settings.address import parse_address
from lakestream.table.compaction.rewrite import ATTEMPTS_MAX
from tests.acceptance.cluster_processes import Part
from tests.integration.tables.leftovers import unreferenced
from tests.integration.tables.up_topics import PARTITIONS, SECONDS_MAX, SHORT_LEASE, consume, produce, rows, wait_for
from tests.integration.up_process import Up

pytestmark = pytest.mark.skipif(missing_java() is not None, reason=str(missing_java()))

SOAK = bool(os.environ.get("LAKESTREAM_SOAK"))
MOMENTS = (".parquet", "ledger.json", "-m0.avro", ".metadata.json") if SOAK else (".parquet", ".metadata.json")
"""The last object of a step, in their order. A pipeline takes some seconds to come back, then waits for its lease."""
STOPS_MAX = 5


@contextmanager
def job_at(up: Up, topic: str, moment: str) -> Iterator[None]:
    """Ask for the topic's compaction; the block begins when an object of this kind appears."""
    there = {path for path in tables(up) if path.name.endswith(moment)}
    ask_gateway(Gateway(address=parse_address(up.http)), "/admin/compact", {"topics": [topic]})
    deadline = time.monotonic() + SECONDS_MAX
    while {path for path in tables(up) if path.name.endswith(moment)} <= there:
        assert time.monotonic() < deadline, f"no {moment} appeared"
    yield


def tables(up: Up) -> Iterator[Path]:
    yield from (up.data / "objects" / "tables").rglob("*.*")


def check(up: Up, topic: str, count: int) -> None:
    """Topic and table hold every record once, and every object that lies there is referred to."""
    up.run("compact", topic)
    from_topic = consume(up, topic, count)
    assert len(from_topic) == count
    assert rows(up, topic) == rows(up, f"{topic}__log") == from_topic
    wait_for(lambda: not left_behind(up), f"left behind: {sorted(left_behind(up))}")


def left_behind(up: Up) -> set[Path]:
    return unreferenced(up.http, up.data / "objects")


def test_a_pipeline_killed_at_any_step_of_a_job_loses_doubles_and_leaves_nothing(up: Up) -> None:
    up.run("topic", "create", "killed", "--partitions", str(PARTITIONS))
    produce(up, "killed", 2_000)
    up.run("compact", "killed")
    before = up.said().count("pipeline ready")
    for number, moment in enumerate(MOMENTS, 1):
        produce(up, "killed", 1_000, first=1_000 + 1_000 * number)
        with job_at(up, "killed", moment):
            os.kill(up.children()["pipeline"], signal.SIGKILL)
        starts = before + number
        wait_for(lambda starts=starts: up.said().count("pipeline ready") == starts, "the pipeline did not come back")
    check(up, "killed", 2_000 + 1_000 * len(MOMENTS))


@pytest.mark.parametrize("victim", ["gateway", "broker"])
def test_a_part_killed_while_a_job_is_under_way_changes_nothing_for_the_job(up: Up, victim: str) -> None:
    topic = f"beside_{victim}"
    up.run("topic", "create", topic, "--partitions", str(PARTITIONS))
    produce(up, topic, 3_000)
    before = up.children()[victim]
    with job_at(up, topic, ".parquet"):
        os.kill(before, signal.SIGKILL)
    wait_for(lambda: up.children().get(victim, before) != before, f"the {victim} did not come back")
    wait_for(lambda: answers(up), f"the {victim} does not answer")
    produce(up, topic, 100, first=3_000)
    check(up, topic, 3_100)


def answers(up: Up) -> bool:
    with suppress(AssertionError):
        return bool(up.status()["topics"])
    return False


def test_workers_that_are_killed_are_replaced_and_the_round_goes_on(up: Up) -> None:
    up.run("topic", "create", "worked", "--partitions", str(PARTITIONS))
    starts = up.said().count("pipeline ready")
    count = killed_within_a_task(up, "worked", up.children()["pipeline"])
    check(up, "worked", count)
    assert up.said().count("pipeline ready") == starts, "the pipeline itself was not to end"


def killed_within_a_task(up: Up, topic: str, pipeline: int) -> int:
    """How many records it took until the name of a file says that its task was begun again. Workers that wait for work
    are stopped first: what Spark gives them they hold when they are killed, unless it was not that far yet."""
    count = 0
    for seconds in range(1, STOPS_MAX + 1):
        for number in (100, 3_000):  # workers end when they have had nothing to do for a while: the first brings them
            up.run("compact", topic)
            produce(up, topic, number, first=count)
            count += number
        before = set(tables(up))
        workers = workers_of(pipeline)
        hit(workers, signal.SIGSTOP)
        ask_gateway(Gateway(address=parse_address(up.http)), "/admin/compact", {"topics": [topic]})
        time.sleep(seconds)
        hit(workers, signal.SIGKILL)
        up.run("compact", topic)
        if any(attempt_of(path) > 0 for path in set(tables(up)) - before if path.suffix == ".parquet"):
            return count
    raise AssertionError("no worker had a task when it was killed")


def hit(workers: list[int], how: signal.Signals) -> None:
    for worker in workers:
        with suppress(ProcessLookupError):  # one that has nothing to do may end by itself
            os.kill(worker, how)


def attempt_of(file: Path) -> int:
    """Of the task that wrote it, as Spark counts them."""
    return int(file.stem.split("-")[1]) % ATTEMPTS_MAX


def workers_of(pipeline: int) -> list[int]:
    """Python workers that Spark's daemon has forked: pipeline -> Java -> daemon -> worker."""
    return descendants(pipeline, 3)


def descendants(process: int, generations: int) -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal():
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])

    def children(of: set[int]) -> set[int]:
        return {child for child, parent in parents.items() if parent in of}

    found = {process}
    for _ in range(generations):
        found = children(found)
    return sorted(found)


def test_a_pipeline_whose_java_dies_ends_in_good_order_and_comes_back(up: Up) -> None:
    up.run("topic", "create", "javaless", "--partitions", str(PARTITIONS))
    produce(up, "javaless", 500)
    up.run("compact", "javaless")
    told = up.said()
    hit(descendants(up.children()["pipeline"], 1), signal.SIGKILL)
    produce(up, "javaless", 500, first=500)
    wait_for(lambda: "pipeline ready" in up.said().removeprefix(told), "the pipeline did not come back")
    assert "error: a part of this process broke; its log says which" in up.said().removeprefix(told), (
        "it got to its end: the lease was given back, and the stores were closed"
    )
    check(up, "javaless", 1_000)


def test_a_pipeline_that_slept_past_its_lease_finds_the_work_done_and_changes_nothing(up: Up) -> None:
    """It is stopped within a job; another one takes over, drops that job and does it again; then the first wakes."""
    up.run("topic", "create", "slept", "--partitions", str(PARTITIONS))
    sleeper = up.children()["pipeline"]
    count = stopped_within_a_job(up, "slept", sleeper)
    second = Part(up.data.parent, "second", "pipeline", "--data", str(up.data), *SHORT_LEASE)
    try:
        up.run("compact", "slept")
        assert "a job that was never finished is dropped" in second.said()
        told = up.said()
        os.kill(sleeper, signal.SIGCONT)
        wait_for(lambda: "could not be compacted" in up.said().removeprefix(told), "the sleeper did not notice")
        check(up, "slept", count)
        produce(up, "slept", 100, first=count)  # both are awake now, and one works
        check(up, "slept", count + 100)
        assert second.stop() == 0
        produce(up, "slept", 100, first=count + 100)  # and now the other
        check(up, "slept", count + 200)
    finally:
        second.kill()


def stopped_within_a_job(up: Up, topic: str, pipeline: int) -> int:
    """How many records it took: on a busy machine a job may be done before the signal arrives."""
    for number in range(1, STOPS_MAX + 1):
        produce(up, topic, 3_000, first=3_000 * (number - 1))
        with job_at(up, topic, ".parquet"):
            os.kill(pipeline, signal.SIGSTOP)
        (found,) = [one for one in up.status()["topics"] if one["name"] == topic]
        if any(part["tabled_until"] < part["next_offset"] for part in found["partitions"]):
            return 3_000 * number
        os.kill(pipeline, signal.SIGCONT)
    raise AssertionError("every job was done before it could be stopped")
