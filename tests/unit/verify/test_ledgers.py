"""The chain of ledgers: each continues the one before it, and names the files that are there."""

import hashlib
import json
from typing import Any

import pytest

from lakestream.catalog.commits.summaries import JOB, LEDGER, LEDGER_HASH
from lakestream.table.verify.appended import NOTHING_APPENDED
from lakestream.table.verify.ledgers import (
    FoundLedger,
    LedgerFile,
    LedgerRef,
    chain_of,
    chain_problems,
    file_problems,
    read_ledger,
)
from lakestream.table.verify.rows import DataFileRow, Range


def ledger(start: int, end: int, *, path: str = "f", rows: int = 10) -> FoundLedger:
    ref = LedgerRef(1, "file:///ledger", "", "job")
    return FoundLedger(ref, {0: Range(start, end)}, [LedgerFile(path, rows, {0: end - 1})])


@pytest.mark.parametrize(
    ("ranges", "log_start", "problem"),
    [
        ([(0, 10), (10, 25)], 0, None),
        ([(0, 10), (11, 25)], 0, "ended at 10"),
        ([(0, 10), (9, 25)], 0, "were in the table already"),
        ([(0, 10), (15, 25)], 15, None),
        ([(0, 10), (15, 25)], 14, "ended at 10"),
        ([(5, 10)], 0, "ended at 0"),
        ([(0, 10), (10, 10)], 0, "ended at 10"),
    ],
)
def test_gaps_and_overlaps_are_found(ranges: list[tuple[int, int]], log_start: int, problem: str | None) -> None:
    found = list(
        chain_problems([ledger(*each) for each in ranges], NOTHING_APPENDED, is_whole=True, log_starts={0: log_start})
    )
    assert (problem is None) == (not found)
    assert problem is None or problem in found[0]


def test_a_chain_whose_beginning_has_expired_starts_anywhere() -> None:
    assert list(chain_problems([ledger(5, 10)], NOTHING_APPENDED, is_whole=False, log_starts={})) == []


@pytest.mark.parametrize(
    ("files", "log_start", "problem"),
    [
        ([DataFileRow("f", 10, 1)], 0, None),
        ([DataFileRow("f", 9, 1)], 0, "10 rows by its ledger and 9 by its manifest"),
        ([], 0, "refers to it no more"),
        ([], 10, None),
        ([DataFileRow("f", 10, 1), DataFileRow("g", 1, 1)], 0, "no ledger says so"),
    ],
)
def test_ledgers_and_manifests_must_agree(files: list[DataFileRow], log_start: int, problem: str | None) -> None:
    found = list(file_problems([ledger(0, 10)], files, NOTHING_APPENDED, is_whole=True, log_starts={0: log_start}))
    assert (problem is None) == (not found)
    assert problem is None or problem in found[0]


def snapshot(id: int, parent: int | None, location: str | None) -> dict[str, Any]:
    summary = {} if location is None else {LEDGER: location, LEDGER_HASH: "h", JOB: "j"}
    return {"snapshot-id": id, "summary": summary} | ({} if parent is None else {"parent-snapshot-id": parent})


def test_the_chain_is_followed_from_the_head_back() -> None:
    snapshots = [snapshot(1, None, None), snapshot(2, 1, "a"), snapshot(3, 2, "b"), snapshot(9, 2, "elsewhere")]
    whole = chain_of({"current-snapshot-id": 3, "snapshots": snapshots})
    assert ([ref.location for ref in whole.refs], whole.is_whole) == (["a", "b"], True)
    cut = chain_of({"current-snapshot-id": 3, "snapshots": snapshots[1:]})
    assert ([ref.location for ref in cut.refs], cut.is_whole) == (["a", "b"], False)


def test_a_ledger_must_be_the_one_that_its_snapshot_names() -> None:
    content = json.dumps(
        {
            "version": 1,
            "job": "j",
            "partitions": [[0, 0, 5]],
            "files": [
                {"path": "p", "branches": ["log", "main"], "rows": 5, "spans": [[0, 0, 4]]},
                {"path": "q", "branches": ["main"], "rows": 5, "spans": [[0, 0, 4]]},
            ],
        }
    ).encode()
    ref = LedgerRef(1, "file:///l", hashlib.sha256(content).hexdigest(), "j")
    found = read_ledger(ref, content)
    assert isinstance(found, FoundLedger)
    assert (found.ranges, found.files) == ({0: Range(0, 5)}, [LedgerFile("p", 5, {0: 4})])
    assert "hash differs" in str(read_ledger(ref, content + b" "))
    assert "of job j" in str(read_ledger(ref._replace(job="k"), content))


def merge(replaces: set[str], *, path: str = "m", rows: int = 20) -> FoundLedger:
    ref = LedgerRef(9, "file:///merge", "", "merge")
    return FoundLedger(ref, {}, [LedgerFile(path, rows, {0: 19})], frozenset(replaces))


def test_a_merge_explains_why_files_are_gone_and_where_another_came_from() -> None:
    ledgers = [ledger(0, 10, path="f"), ledger(10, 20, path="g"), merge({"f", "g"}), ledger(20, 30, path="h")]
    files = [DataFileRow("m", 20, 1), DataFileRow("h", 10, 1)]
    assert list(file_problems(ledgers, files, NOTHING_APPENDED, is_whole=True, log_starts={})) == []
    assert list(chain_problems(ledgers, NOTHING_APPENDED, is_whole=True, log_starts={})) == []
    missing = list(file_problems(ledgers, files[1:], NOTHING_APPENDED, is_whole=True, log_starts={}))
    assert len(missing) == 1 and missing[0].startswith("m is in a ledger")
    unexplained = list(file_problems(ledgers[:2], files[:1], NOTHING_APPENDED, is_whole=True, log_starts={}))
    assert len(unexplained) == 3


def test_a_merge_that_loses_rows_is_found() -> None:
    ledgers = [ledger(0, 10, path="f"), ledger(10, 20, path="g"), merge({"f", "g"}, rows=19)]
    (problem,) = file_problems(ledgers, [DataFileRow("m", 19, 1)], NOTHING_APPENDED, is_whole=True, log_starts={})
    assert "20 rows into files of 19 rows" in problem


def test_a_ledger_of_a_merge_says_what_it_replaces() -> None:
    content = json.dumps(
        {"version": 2, "job": "job", "partitions": [], "files": [], "replaces": ["f", "g"], "table": "", "topic": ""}
    ).encode()
    found = read_ledger(LedgerRef(1, "file:///ledger", hashlib.sha256(content).hexdigest(), "job"), content)
    assert isinstance(found, FoundLedger)
    assert found.replaces == {"f", "g"} and not found.ranges
