"""Several processes on one SQLite file, and processes that die in the middle of commits."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from lakestream.metadata.store import MetadataStore
from lakestream.model.segment import SegmentCommit
from tests.behaviour.metadata.stage import Stage, batch, laid_out, results_of

COMMITTER = Path(__file__).with_name("committer.py")
SECONDS_MAX = 30
ACKS_BEFORE_KILL = 40


def start(url: str, broker: int, partitions: tuple[int, ...]) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.behaviour.metadata.committer", url, str(broker), *map(str, partitions)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=COMMITTER.parents[3])


def acknowledged(process: "subprocess.Popen[str]", count: int) -> list[str]:
    """The next `count` lines that a committer printed: one for each commit it was told of."""
    assert process.stdout is not None
    lines = []
    deadline = time.monotonic() + SECONDS_MAX
    while len(lines) < count and time.monotonic() < deadline:
        lines.append(process.stdout.readline())
    assert len(lines) == count
    return lines


def killed(process: "subprocess.Popen[str]") -> list[str]:
    """kill -9, then what it had still said."""
    process.kill()
    assert process.stdout is not None
    with process.stdout:  # not communicate(), which would pass by what readline() had read ahead
        lines = [line for line in process.stdout if line.endswith("\n")]
    process.wait(SECONDS_MAX)
    return lines


def test_killed_in_the_middle_of_commits_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    stage = Stage(f"sqlite://{tmp_path}/metadata.db")

    async def prepare() -> tuple[int, ...]:
        return (await stage.topic(await stage.open(), 3)).partitions

    partitions = stage.runner.run(prepare())
    acks: list[str] = []
    for _ in range(2):
        processes = [start(stage.url, broker, partitions) for broker in (1, 2)]
        for process in processes:
            acks += acknowledged(process, ACKS_BEFORE_KILL)
        for process in processes:
            acks += killed(process)

    async def check(store: MetadataStore) -> None:
        again = await stage.open()
        for line in acks:
            segment, *bases = line.split()
            commit = SegmentCommit(segment=segment, broker_id=0, incarnation=0, bytes=0, batches=())
            assert [result.base_offset for result in results_of(await again.commit_segment(commit))] == [
                int(base) for base in bases
            ]
        assert len({line.split()[1] for line in acks}) == len(acks)
        tails = await again.tails(partitions)
        committed = tails[partitions[0]].tail.next_offset
        assert committed >= len(acks)
        assert {size.tail.next_offset for size in tails.values()} == {committed}  # each commit is whole or absent
        lease = await stage.broker(again, 9)
        fate = await again.commit_segment(stage.commit(lease, *laid_out(*map(batch, partitions))))
        assert {result.base_offset for result in results_of(fate)} == {committed}

    stage.run(check)
    stage.close()


def test_processes_that_open_a_new_file_at_once_share_it(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/metadata.db"
    processes = [start(url, broker, ()) for broker in range(4)]
    for process in processes:
        acknowledged(process, 1)
        killed(process)

    stage = Stage(url)

    async def check(store: MetadataStore) -> None:
        assert [broker.id for broker in await store.live_brokers()] == [0, 1, 2, 3]

    stage.run(check)
    stage.close()


def test_commits_of_another_process_ring_the_alarm(tmp_path: Path) -> None:
    stage = Stage(f"sqlite://{tmp_path}/metadata.db")

    async def scenario(store: MetadataStore) -> None:
        rung = asyncio.Event()
        store.on_change(rung.set)
        await asyncio.sleep(0.05)
        rung.clear()
        process = start(stage.url, 1, (await stage.topic(await stage.open())).partitions)
        await asyncio.to_thread(acknowledged, process, 1)
        rung.clear()
        async with asyncio.timeout(SECONDS_MAX):
            await rung.wait()
        await asyncio.to_thread(killed, process)

    stage.run(scenario)
    stage.close()
