"""The examiner: the tables as they are, against the log as it is and all that was produced.

ledgers chain without gap or overlap, to tabled_until     rows of `log` are the topic's records, one to one
every referenced object exists, none that goes is needed  `main` has what `log` has, but for what strangers took out
a commit is made under the lease, and once                nothing is left of jobs that were not committed
columns of typed rows say what their values say           broken values are set aside, each once, and nothing else is
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

from lakestream.catalog.files.locations import LOG_FOLDER_END, TABLES_FOLDER
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.value_configs import KEY_FORMAT, VALUE_FORMAT
from lakestream.model.errors import Fenced
from lakestream.model.job import CompactionLease, JobCommit, JobId
from lakestream.model.place import FileSpan, Tail
from lakestream.model.row_form import Form
from lakestream.model.table import PointerMove, TableId
from lakestream.model.table_errors import CommitConflict, JobDropped
from lakestream.model.topic import PartitionId, TopicId
from lakestream.world.clock import Clock
from tests.simulation.audit import Seen, all_partitions
from tests.simulation.ledger import Ledger
from tests.simulation.trace import Trace
from tests.simulation.values import is_broken
from tests.simulation.verdict import Verdict

from .lake import Lake, Table, TableRow
from .stranger import Stranger


class Examiner:
    def __init__(
        self,
        store: MetadataStore,
        lake: Lake,
        *,
        stranger: Stranger,
        clock: Clock,
        ledger: Ledger,
        verdict: Verdict,
        trace: Trace,
    ) -> None:
        self._store = store
        self._lake = lake
        self._stranger = stranger
        self._clock = clock
        self._ledger = ledger
        self._verdict = verdict
        self._trace = trace
        self._lease: tuple[int, int] = (0, 0)
        """The newest token, and until when it was given."""
        self._committed: dict[JobId, str] = {}
        self._tabled: dict[PartitionId, int] = {}
        self._files: dict[TableId, set[str]] = {}
        """All that were ever committed to each table."""
        self._spans: dict[str, set[tuple[PartitionId, int, int]]] = {}
        """The offsets that each file was committed with."""
        self._merged_from: dict[str, set[str]] = {}
        """The files whose rows a merged file has."""
        self._strangers: dict[TableId, set[int]] = {}
        """Strangers' snapshots of each table that were taken in."""

    # --- as it happens ---------------------------------------------------------------------------

    def claimed(self, lease: CompactionLease | None) -> None:
        if lease is not None and lease.token >= self._lease[0]:
            self._lease = (lease.token, self._clock.wall_ms() + lease.ttl_ms)

    def left(self, lease: CompactionLease) -> None:
        if lease.token == self._lease[0]:
            self._lease = (lease.token, 0)

    async def commit(self, act: Callable[[JobCommit], Any], commit: JobCommit) -> str:
        token, until_ms = self._lease
        is_zombie = commit.token < token or self._clock.wall_ms() > until_ms
        tails = await self._store.tails([each.partition for each in commit.ranges])
        try:
            location: str = await act(commit)
        except Fenced:
            self._trace.events["job was fenced"] += 1
            raise
        except JobDropped:
            self._trace.events["job was dropped before"] += 1
            raise
        except CommitConflict:
            self._trace.events["table had moved"] += 1
            raise
        is_repeat = commit.job in self._committed
        first = self._committed.setdefault(commit.job, location)
        self._verdict.holds(first == location, "a job is committed once", commit.job, first, "then", location)
        if is_repeat:
            self._trace.events["job was committed before"] += 1
            return location
        self._trace.events["files merged" if commit.merged else "job committed"] += 1
        files = {
            file for span in (*commit.spans, *commit.merged) for file in (span.file, span.log_file) if file is not None
        }
        self._files.setdefault(commit.move.pointer.id, set()).update(files)
        self._note_spans(commit)
        self._verdict.holds(not is_zombie, "a zombie changes nothing", commit.job, "was committed without lease")
        for start, each in [(tails[each.partition].tail, each) for each in commit.ranges if each.partition in tails]:
            self._continues(start, each.partition, each.start, each.end)
        return location

    def _note_spans(self, commit: JobCommit) -> None:
        """A file with rows that only `log` shows is merged from its like."""
        for span in commit.merged:
            for file in (one for one in (span.file, span.log_file) if one is not None):
                alike = {
                    one
                    for one in commit.replaced_files
                    if one.endswith("-log.parquet") == file.endswith("-log.parquet")
                }
                sources = {
                    one
                    for one in alike
                    for partition, base, last in self._spans[one]
                    if partition == span.partition and span.base_offset <= last and base <= span.last_offset
                }
                self._merged_from.setdefault(file, set()).update(sources)
        for span in (*commit.spans, *commit.merged):
            for file in (one for one in (span.file, span.log_file) if one is not None):
                self._spans.setdefault(file, set()).add((span.partition, span.base_offset, span.last_offset))

    def _continues(self, tail: Tail, partition: PartitionId, start: int, end: int) -> None:
        before = self._tabled.get(partition, 0)
        joined = before <= start <= max(before, tail.log_start) and start < end
        self._verdict.holds(joined, "a job continues what is tabled", partition, before, "then", start, end)
        self._tabled[partition] = end

    async def moved(self, moves: Sequence[PointerMove]) -> None:
        """Pointers were moved: strangers' snapshots among what they point to now were taken in."""
        for move in moves:
            table = await self._lake.table(move.pointer)
            taken_in = self._stranger.deleted.keys() & table.files.keys()
            self._strangers.setdefault(move.pointer.id, set()).update(taken_in)

    async def deleting(self, keys: Sequence[str]) -> None:
        asked = {key for key in keys if key.startswith(f"{TABLES_FOLDER}/")}
        if asked:
            needed = await self._needed()
            self._verdict.holds(not asked & needed, "no deleted object is referenced", sorted(asked & needed)[:5])

    # --- at any moment ---------------------------------------------------------------------------

    async def look(self) -> None:
        """Pointers and spans move together, so one without the other is never seen."""
        partitions = await all_partitions(self._store)
        tables = await self._lake.tables()
        there = set(await self._lake.keys())
        by_topic: dict[TopicId, list[Seen]] = {}
        for seen in partitions:
            by_topic.setdefault(seen.topic.id, []).append(seen)
        for table in tables:
            missing = sorted(key for key in map(self._lake.key, table.needed) if key not in there)
            self._verdict.holds(not missing, "every referenced object exists", table.pointer.name, missing[:5])
            if not missing and table.pointer.topic in by_topic:
                await self._check_topic(table, by_topic[table.pointer.topic])

    async def _check_topic(self, table: Table, partitions: Sequence[Seen]) -> None:
        files = Counter(table.log_files)
        twice = [file for file, count in files.items() if count > 1]
        self._verdict.holds(not twice, "a file is on a branch once", table.pointer.name, twice[:3])
        in_spans = {
            file for seen in partitions for span in seen.view.spans if isinstance(span, FileSpan) for file in span.files
        }
        self._verdict.holds(in_spans <= set(files), "the index follows `log`", sorted(in_spans - set(files))[:3])
        self._check_ledgers(table, partitions)
        await self._check_rows(table, partitions)

    def _check_ledgers(self, table: Table, partitions: Sequence[Seen]) -> None:
        ranges: dict[int, list[tuple[int, int]]] = {}
        for ledger in table.ledgers:
            for number, start, end in ledger["partitions"]:
                ranges.setdefault(number, []).append((start, end))
        for seen in partitions:
            own = ranges.get(seen.topic.partitions.index(seen.partition), [])
            tail = seen.view.tail
            chained = all(
                before[1] == after[0] or before[1] < after[0] <= tail.log_start for before, after in pairwise(own)
            )
            self._verdict.holds(chained, "ledgers chain without gap or overlap", seen.partition, tail, own)
            reaches = own[-1][1] == tail.tabled_until if own else not tail.tabled_until or len(table.ledgers) == 0
            reaches = reaches or not own  # its last ledger is older than what strangers left of the history
            self._verdict.holds(reaches, "the last ledger reaches tabled_until", seen.partition, tail, own)

    async def _check_rows(self, table: Table, partitions: Sequence[Seen]) -> None:
        rows = [row for file in table.log_files for row in await self._lake.rows(file)]
        self._check_typed(table, partitions[0].topic.config, rows)
        for number, seen in enumerate(partitions):
            tail, own = seen.view.tail, [each.row for each in rows if each.number == number]
            offsets = sorted(row.offset for row in own)
            self._verdict.holds(len(offsets) == len(set(offsets)), "a record is one row", seen.partition, tail)
            live = [offset for offset in offsets if offset >= tail.log_start]
            same = live == list(range(tail.log_start, tail.tabled_until))
            self._verdict.holds(same, "rows of `log` are the records", seen.partition, tail, live[:3], live[-3:])
            self._ledger.seen_rows(seen.partition, seen.topic.name, number, own)
        others = {each.number for each in rows} - set(range(len(partitions)))
        self._verdict.holds(not others, "rows are of the topic's partitions", table.pointer.name, others)

    def _check_typed(self, table: Table, config: Mapping[str, str], rows: Sequence[TableRow]) -> None:
        """What is broken is set aside, and columns say what the bytes say."""
        typed = config.get(VALUE_FORMAT) == "json"
        self._verdict.holds(typed or not any(each.form for each in rows), "bytes stay bytes", table.pointer.name)
        for each in rows if typed else ():
            self._trace.events[f"row of form {each.form}"] += 1
            value = each.row.sent.value
            right = (each.form is Form.QUARANTINED) == is_broken(value)
            self._verdict.holds(right, "what is broken is set aside, and nothing else", each.row, each.form)
            said = {} if is_broken(value) else json.loads(value)
            same = all(each.columns.get(key) == content for key, content in said.items())
            self._verdict.holds(same, "columns say what the value says", each.columns, said)
            if config.get(KEY_FORMAT) == "string":
                key = each.row.sent.key
                told = each.columns["key"] == (None if key is None else key.decode())
                self._verdict.holds(told, "a column says what the key says", each.columns, key)

    # --- in the end ------------------------------------------------------------------------------

    async def everything_is_tabled(self) -> bool:
        seen = await all_partitions(self._store)
        return all(
            max(one.view.tail.tabled_until, one.view.tail.log_start) == one.view.tail.next_offset for one in seen
        )

    async def judge_main(self) -> None:
        """`main` is `log` without what strangers took out, whenever they did."""
        for table in await self._lake.tables():
            taken = {
                file
                for snapshot in self._strangers.get(table.pointer.id, ())
                for file in self._stranger.deleted[snapshot]
            }
            taken |= {file for file in table.log_files if self._was_taken(file, taken)}
            hidden = await self._set_aside(table)
            main, log = Counter(table.main_files), set(table.log_files) - hidden
            ever = self._files.get(table.pointer.id, set())
            told = (table.pointer.name, len(main), len(log), len(ever), len(taken))
            self._verdict.holds(max(main.values(), default=1) == 1, "a file is on a branch once", *told)
            # What retention takes from `log` may stay on `main`.
            whole = log - taken <= main.keys() <= ever - taken - hidden
            self._verdict.holds(whole, "`main` has every row, but for what strangers deleted", *told)

    def _was_taken(self, file: str, taken: Set[str]) -> bool:
        """Whether the file, or what it was merged from, had left `main`: then all of it had."""
        sources = self._merged_from.get(file)
        if file in taken or not sources:
            return file in taken
        gone = {self._was_taken(one, taken) for one in sources}
        self._verdict.holds(len(gone) == 1, "a merge brings nothing back, and takes nothing along", file)
        self._trace.events["merged on `log` alone"] += True in gone
        return True in gone

    async def _set_aside(self, table: Table) -> set[str]:
        """Files of `log` whose rows SQL does not see. Each of these is once in `quarantine`, and nothing else is; but
        what the log has let go of may have left `quarantine` before the rest of its file has left `log`."""
        starts = {
            seen.topic.partitions.index(seen.partition): seen.view.tail.log_start
            for seen in await all_partitions(self._store)
            if seen.topic.id == table.pointer.topic
        }
        hidden: set[str] = set()
        expected: Counter[tuple[int, int]] = Counter()
        for file in table.log_files:
            rows = await self._lake.rows(file)
            aside = [(each.number, each.row.offset) for each in rows if each.form is Form.QUARANTINED]
            self._verdict.holds(len(aside) in (0, len(rows)), "broken values are in files of their own", file)
            if aside:
                hidden.add(file)
                expected.update(each for each in aside if each[1] >= starts.get(each[0], 0))
        rows = [each for file in table.quarantine_files for each in await self._lake.rows(file)]
        found = Counter((each.number, each.row.offset) for each in rows)
        once = expected <= found and max(found.values(), default=1) == 1
        self._verdict.holds(once, "what is set aside is in quarantine once", table.pointer.name, expected - found)
        broken = all(is_broken(each.row.sent.value) for each in rows)
        self._verdict.holds(broken, "quarantine has what is broken alone", table.pointer.name)
        return hidden

    async def no_garbage_is_left(self) -> None:
        """Of jobs that were dropped, of commits that were not made. Below the folders that are ours: a stranger's
        folder is its own business."""
        needed = await self._needed()
        tables = {table.pointer.id for table in await self._lake.tables()}
        left = [key for key in await self._lake.keys() if key not in needed and self._must_go(key, tables)]
        self._verdict.holds(not left, "nothing is left of jobs that were not committed", len(left), left[:5])

    def _must_go(self, key: str, tables: Set[TableId]) -> bool:
        """What may stay: all of a table that never got a name (nobody looks there again), and what a worker that was
        given up wrote after its job was committed, if the pipeline died too."""
        table, _, name = key.removeprefix(f"{TABLES_FOLDER}/").partition(LOG_FOLDER_END + "/")
        return table in tables and name.partition("/")[0] not in self._committed

    async def _needed(self) -> set[str]:
        spans = [
            file
            for seen in await all_partitions(self._store)
            for span in seen.view.spans
            if isinstance(span, FileSpan)
            for file in span.files
        ]
        tables = await self._lake.tables()
        return {self._lake.key(location) for location in (*spans, *(one for table in tables for one in table.needed))}
