"""Verifies one topic against its table: reports the extent of the comparison, and every difference.

    tails -> table's metadata (at least as new) -> ledgers -> objects -> topic's digests, table's digests -> differences

Both sides keep changing meanwhile. Everything that was in the table when the tails were read must be on both sides.
Records that were deleted since are excused, after the tails have been read again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakestream.catalog.spec.values import Metadata
from lakestream.catalog.topic.topic_table import suffix_of
from lakestream.contract.topic.topic_contract import CONTRACT_PROPERTY, TopicContract
from lakestream.contract.values.rules import Rules
from lakestream.model.errors import LakestreamError
from lakestream.model.table import LOG_BRANCH
from lakestream.table.spark.catalog import CATALOG
from lakestream.table.spark.lake_session import cause
from lakestream.table.verify.appended import NOTHING_APPENDED, AppendedStretches
from lakestream.table.verify.digest import Chunk, Digests, differing
from lakestream.table.verify.ledgers import (
    FoundLedger,
    chain_ends,
    chain_of,
    chain_problems,
    file_problems,
    read_ledger,
)
from lakestream.table.verify.objects import problems_of_objects, read_objects, read_rules
from lakestream.table.verify.records import RecordSource, TopicSide, hashes_of, read_topic
from lakestream.table.verify.rows import DataFileRow, LogRows, Range
from lakestream.table.verify.values import TypedFiles

CHUNKS_LOOKED_INTO_MAX = 16
OFFSETS_NAMED_MAX = 5


class PartitionState(NamedTuple):
    log_start: int
    tabled_until: int
    wal_start: int | None
    """The first offset in the WAL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicToVerify:
    name: str
    table: str
    """namespace.name"""
    metadata: Metadata
    """The metadata of `<table>__log`, read after `partitions`."""
    metadata_location: str
    partitions: Mapping[int, PartitionState]
    source: RecordSource
    now: Callable[[], Mapping[int, PartitionState]]
    """Returns the partitions as they are at the time of the call."""
    objects_options: Mapping[str, str]
    appended: AppendedStretches = NOTHING_APPENDED
    """The rows that engines appended, read after `metadata`."""


@dataclass(slots=True, kw_only=True)
class TopicVerdict:
    """The extent of the comparison, and the differences."""

    topic: str
    table: str | None
    partitions: int = 0
    records: int = 0
    rows: int = 0
    files: int = 0
    objects: int = 0
    ledgers: int = 0
    ledgers_whole: bool = True
    restated_files: int = 0
    """Files whose values partly come back in another spelling than they were produced in, since the topic waived exact
    bytes. Their records are compared as consumers get them."""
    problems: list[str] = field(default_factory=list)


def verify_topic(session: SparkSession, topic: TopicToVerify, advance: Callable[[int], None]) -> TopicVerdict:
    metadata = topic.metadata
    verdict = TopicVerdict(topic=topic.name, table=topic.table, partitions=len(topic.partitions))
    verdict.problems += _wal_problems(topic.partitions)
    log = LogRows(session, f"{CATALOG}.{topic.table}{suffix_of(LOG_BRANCH)}", metadata["current-snapshot-id"])
    ledgers = _ledgers(topic, verdict)
    try:
        files, manifests = log.files(), log.manifests()
    except (PySparkException, Py4JError) as error:
        verdict.problems += problems_of_objects(metadata["location"], topic.objects_options, _referenced(topic, (), ()))
        verdict.problems.append(f"the table's manifests cannot be read, and nothing more was compared: {cause(error)}")
        return verdict
    now = topic.now()
    starts = {number: state.log_start for number, state in now.items()}
    verdict.problems += chain_problems(ledgers, topic.appended, is_whole=verdict.ledgers_whole, log_starts=starts)
    verdict.problems += _end_problems(topic.partitions, now, ledgers, topic.appended, is_whole=verdict.ledgers_whole)
    verdict.problems += file_problems(ledgers, files, topic.appended, is_whole=verdict.ledgers_whole, log_starts=starts)
    referenced = _referenced(topic, manifests, files)
    verdict.files, verdict.objects = len(files), len(referenced)
    verdict.problems += problems_of_objects(metadata["location"], topic.objects_options, referenced)
    try:
        log.typed = _typed(topic, files, verdict)
    except LakestreamError as error:
        verdict.problems.append(f"values cannot be read from columns, and no record was compared: {error}")
        return verdict
    _compare(topic, log, files, now, verdict, advance)
    return verdict


def _typed(topic: TopicToVerify, files: Sequence[DataFileRow], verdict: TopicVerdict) -> TypedFiles | None:
    """None if the topic has no typed columns. Raises LakestreamError if a file cannot be read."""
    text = (topic.metadata.get("properties") or {}).get(CONTRACT_PROPERTY)
    if text is None or not (contract := TopicContract.from_text(text)).layout.columns:
        return None
    paths = [file.path for file in files if file.path not in topic.appended.files]
    rules = read_rules(topic.metadata["location"], topic.objects_options, paths)
    verdict.restated_files = sum(Rules.from_text(text).restated for text in rules.values())
    return TypedFiles(columns=contract.layout.columns, rules=rules)


def _wal_problems(partitions: Mapping[int, PartitionState]) -> Iterator[str]:
    for number, state in partitions.items():
        if state.wal_start is not None and state.wal_start < state.tabled_until:
            yield (
                f"partition {number}: offsets from {state.wal_start} on are kept in the WAL, "
                f"though the table has everything below {state.tabled_until}"
            )


def _ledgers(topic: TopicToVerify, verdict: TopicVerdict) -> list[FoundLedger]:
    chain = chain_of(topic.metadata)
    verdict.ledgers, verdict.ledgers_whole = len(chain.refs), chain.is_whole
    locations = [ref.location for ref in chain.refs]
    contents = read_objects(topic.metadata["location"], topic.objects_options, locations)
    found: list[FoundLedger] = []
    for ref in chain.refs:
        content = contents[ref.location]
        if content is None:
            continue  # reported among the missing objects
        ledger = read_ledger(ref, content)
        if isinstance(ledger, str):
            verdict.problems.append(ledger)
        else:
            found.append(ledger)
    return found


def _end_problems(
    before: Mapping[int, PartitionState],
    after: Mapping[int, PartitionState],
    ledgers: Sequence[FoundLedger],
    appended: AppendedStretches,
    *,
    is_whole: bool,
) -> Iterator[str]:
    """Check that the last ledger of each partition, with the appended rows that follow it, ends where the index says
    that the table does."""
    ends = chain_ends(ledgers)
    for number, state in before.items():
        end = ends.get(number)
        if end is None and not is_whole:
            continue  # its last ledger has expired
        latest = after[number].tabled_until if number in after else state.tabled_until
        until = appended.passed(number, end or 0)
        if not state.tabled_until <= until <= max(latest, state.tabled_until):
            yield f"partition {number} is tabled until {state.tabled_until} by the index, until {until} by its ledgers"


def _referenced(topic: TopicToVerify, manifests: Sequence[str], files: Sequence[DataFileRow]) -> dict[str, int | None]:
    """Every object that the log's table refers to, with its size if known."""
    metadata = topic.metadata
    return {
        topic.metadata_location: None,
        **{entry["metadata-file"]: None for entry in metadata.get("metadata-log") or ()},
        **{snapshot["manifest-list"]: None for snapshot in metadata["snapshots"] if "manifest-list" in snapshot},
        **dict.fromkeys(manifests, None),
        **{ref.location: None for ref in chain_of(metadata).refs},
        **{file.path: file.bytes for file in files},
    }


def _compare(
    topic: TopicToVerify,
    log: LogRows,
    files: Sequence[DataFileRow],
    now: Mapping[int, PartitionState],
    verdict: TopicVerdict,
    advance: Callable[[int], None],
) -> None:
    ranges = {
        number: Range(state.log_start, state.tabled_until)
        for number, state in topic.partitions.items()
        if state.log_start < state.tabled_until
    }
    topic_side = read_topic(topic.source, ranges, topic.appended, advance)
    verdict.problems += topic_side.problems
    verdict.problems += topic.appended.record_problems(topic_side.read, topic_side.appended)
    verdict.problems += topic.appended.row_problems(files)
    verdict.records = sum(digest.records for digest in topic_side.digests.values())
    try:
        counted = log.counted(topic.appended.files)
        table_side = log.digests(topic_side.read) if topic_side.read else {}
        verdict.rows = sum(digest.records for digest in table_side.values())
        verdict.problems += _count_problems(files, counted.by_file)
        verdict.problems += beyond_problems(counted.ends, {number: state.tabled_until for number, state in now.items()})
        verdict.problems += _differences(topic, log, topic_side, table_side)
    except (PySparkException, Py4JError) as error:
        verdict.problems.append(f"the table's files cannot be read, and its rows were not compared: {cause(error)}")


def _count_problems(files: Sequence[DataFileRow], counted: Mapping[str, int]) -> Iterator[str]:
    for file in files:
        if (rows := counted.get(file.path, 0)) != file.rows:
            yield f"{file.path} holds {rows} rows, but {file.rows} by its manifest"


def beyond_problems(ends: Mapping[int | None, int], tabled_until: Mapping[int, int]) -> Iterator[str]:
    """Rows that were not compared with any record, since they lie where the table should have none.

    `ends` are the ends of the rows by partition. `tabled_until` is read after the table's snapshot, and is empty if the
    topic was deleted meanwhile."""
    for number, end in ends.items() if tabled_until else ():
        until = None if number is None else tabled_until.get(number)
        if until is None:
            yield f"the table has rows of partition {number}, and the topic has no such partition"
        elif end > until:
            yield (
                f"partition {number}: the table has rows up to offset {end - 1}, "
                f"though by the index it ends before {until}"
            )


def _differences(topic: TopicToVerify, log: LogRows, topic_side: TopicSide, table_side: Digests) -> Iterator[str]:
    chunks = differing(topic_side.digests, table_side)
    if not chunks:
        return
    now = topic.now()
    for chunk in chunks[:CHUNKS_LOOKED_INTO_MAX]:
        start = now[chunk.partition].log_start if chunk.partition in now else chunk.end
        read = topic_side.read[chunk.partition]
        range = Range(max(chunk.start, read.start, start), min(chunk.end, read.end))
        if range.start < range.end:
            yield from _differences_within(topic.source, log, topic.appended, chunk, range)
    if len(chunks) > CHUNKS_LOOKED_INTO_MAX:
        yield f"{len(chunks)} chunks of records differ; the first {CHUNKS_LOOKED_INTO_MAX} were looked into"


def _differences_within(
    source: RecordSource, log: LogRows, appended: AppendedStretches, chunk: Chunk, range: Range
) -> Iterator[str]:
    parts = [found for _, found in hashes_of(source, chunk.partition, range)]
    offsets, hashes = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
    own = ~appended.among(chunk.partition, offsets)
    ours = offsets[own], hashes[own]
    theirs = log.hashes(chunk.partition, range)
    yield from record_problems(chunk.partition, ours, theirs)


Side = tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.int64]]]


def record_problems(partition: int, topic: Side, table: Side) -> Iterator[str]:
    """Compare (offsets, hashes) of both sides, record by record."""
    once, times = np.unique(table[0], return_counts=True)
    read, reads = np.unique(topic[0], return_counts=True)
    both, in_topic, in_table = np.intersect1d(topic[0], table[0], return_indices=True)
    changed = both[topic[1][in_topic] != table[1][in_table]]
    for offsets, what in (
        (np.setdiff1d(topic[0], once), "are in the topic and not in the table"),
        (np.setdiff1d(once, topic[0]), "are in the table and not in the topic"),
        (once[times > 1], "are in the table more than once"),
        (read[reads > 1], "come from the topic more than once"),
        (changed, "differ between topic and table"),
    ):
        if len(offsets):
            yield f"partition {partition}: {len(offsets)} records {what}: offsets {_named(offsets.tolist())}"


def _named(offsets: list[int]) -> str:
    shown = ", ".join(map(str, offsets[:OFFSETS_NAMED_MAX]))
    return shown if len(offsets) <= OFFSETS_NAMED_MAX else f"{shown} and others up to {offsets[-1]}"
