"""Request repairs of quarantined values and merges of small files, and read their outcome.

ask -> a row of the metadata store -> the pipeline repairs (table/repairs.py) or merges (table/merging) -> outcome

`Maintenance.tables` shows the files of tables, and what a merge would do about them.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakestream.administration.named_topics import named_topics, topic_name
from lakestream.administration.pipeline import Pipelines, PipelineState
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.merge_plan import MergeLimits, all_groups_of, is_small, runs_of, shortest_retention
from lakestream.catalog.topic.mergeable import Standing
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.topic_config import typed_topic_config
from lakestream.model.errors import LakestreamError, NotFound
from lakestream.model.repair import MERGE_REQUEST, RecordPlace, Repair, RepairAction, RepairId, RepairState
from lakestream.model.topic import Topic
from lakestream.world.ids import Ids


class NoRepair(NotFound):
    """No such repair was requested, or its answer was forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRequest:
    action: RepairAction
    chosen: tuple[RecordPlace, ...] | None = None
    """None: all."""
    fixes: Mapping[RecordPlace, bytes] = field(default_factory=dict)
    """Other bytes to decode. They replace the value in the table alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairCounts:
    repaired: int
    """Records that are rows of the table now."""
    remaining: int
    """Records that are still quarantined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOutcome:
    topic: str | None
    """None: it was deleted meanwhile."""
    state: RepairState
    pipeline: PipelineState
    counts: RepairCounts | None
    """None until it is done."""
    reason: str | None
    """Why the repair failed, if it did."""


class RepairRequests:
    def __init__(self, store: MetadataStore, ids: Ids, pipelines: Pipelines) -> None:
        self._store = store
        self._ids = ids
        self._pipelines = pipelines

    async def ask(self, topic: str, request: RepairRequest) -> RepairId:
        """Raises UnknownTopic, TooManyRepairs."""
        [found] = await named_topics(self._store, [topic])
        repair = Repair(id=self._ids.ulid(), topic=found.id, request=_stored(request))
        await self._store.repairs.ask(repair)
        return repair.id

    async def outcome(self, id: RepairId) -> RepairOutcome:
        """Raises NoRepair."""
        repair = await self._store.repairs.look(id)
        if repair is None:
            raise NoRepair(f"there is no repair {id:.64}: it may have been forgotten, an hour after it was done")
        answer = repair.answer or ""
        return RepairOutcome(
            topic=await topic_name(self._store, repair.topic),
            state=repair.state,
            pipeline=await self._pipelines.state(),
            counts=_counts(answer) if repair.state is RepairState.DONE else None,
            reason=answer if repair.state is RepairState.FAILED else None,
        )


def _counts(answer: str) -> RepairCounts:
    """Parse the counts that table/repairs.py writes."""
    content = json.loads(answer)
    return RepairCounts(repaired=content["repaired"], remaining=content["remaining"])


def _stored(request: RepairRequest) -> str:
    """The request in the form that table/repairs.py reads."""
    fixes = [[*place, base64.b64encode(value).decode()] for place, value in request.fixes.items()]
    chosen = {} if request.chosen is None else {"chosen": request.chosen}
    return json.dumps({"action": request.action, "fixes": fixes} | chosen)


_FILE_FIELDS = (0, 1)
"""The fields of a Unit that are files. Each kind becomes a file of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesOfTable:
    """The log's files of one table."""

    topic: str
    files: int = 0
    bytes: int = 0
    small_files: int = 0
    tied_files: int = 0
    """Files that must stay as they are, mostly because `main` has deleted rows in them."""
    mergeable_files: int = 0
    """Files that a merge would replace now ..."""
    merged_files: int = 0
    """... and by how many."""
    mergeable_bytes: int = 0
    advice: str | None = None
    """What to do about files that a merge does not help."""
    problem: str | None = None
    """Why the table could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOutcome:
    topic: str | None
    """None: it was deleted meanwhile."""
    state: RepairState
    pipeline: PipelineState
    files: int = 0
    into: int = 0
    bytes: int = 0
    reason: str | None = None
    """Why it failed, if it did."""


class Maintenance:
    def __init__(
        self,
        store: MetadataStore,
        locations: TableObjects,
        commits: TopicCommits,
        pipelines: Pipelines,
        ids: Ids,
        limits: MergeLimits,
    ) -> None:
        self._store = store
        self._locations = locations
        self._commits = commits
        self._pipelines = pipelines
        self._ids = ids
        self._limits = limits

    async def tables(self, names: Sequence[str] | None) -> list[FilesOfTable]:
        """The tables of these topics, or of all. Reads all of their manifests. Raises UnknownTopic."""
        topics = sorted(await named_topics(self._store, names), key=lambda topic: topic.name)
        return [await self._table(topic) for topic in topics]

    async def ask(self, topic: str) -> RepairId:
        """Raises UnknownTopic, TooManyRepairs."""
        [found] = await named_topics(self._store, [topic])
        request = Repair(id=self._ids.ulid(), topic=found.id, request=MERGE_REQUEST)
        await self._store.repairs.ask(request)
        return request.id

    async def outcome(self, id: RepairId) -> MergeOutcome:
        """Raises NoRepair."""
        request = await self._store.repairs.look(id)
        if request is None or not request.merges_files:
            raise NoRepair(f"there is no merge {id:.64}: it may have been forgotten, an hour after it was done")
        pipeline, answer = await self._pipelines.state(), request.answer or ""
        topic = await topic_name(self._store, request.topic)
        if request.state is RepairState.DONE:
            return MergeOutcome(topic=topic, state=request.state, pipeline=pipeline, **json.loads(answer))
        return MergeOutcome(topic=topic, state=request.state, pipeline=pipeline, reason=answer or None)

    async def _table(self, topic: Topic) -> FilesOfTable:
        try:
            return await self._files(topic)
        except LakestreamError as error:  # one damaged table hides none of the others
            return FilesOfTable(topic=topic.name, problem=str(error))

    async def _files(self, topic: Topic) -> FilesOfTable:
        pointer = await self._store.tables.table_of_topic(topic.id)
        if pointer is None:
            return FilesOfTable(topic=topic.name)
        found = await self._commits.mergeable(pointer)
        retention = shortest_retention(typed_topic_config(topic.config))
        uses = await self._store.jobs.file_uses(topic.id)
        runs = [] if found.has_lineage else runs_of(uses, found.log, folder=self._locations.log_folder(pointer.id))
        groups = [group for run in runs for group in all_groups_of(run, self._limits, retention)]
        tied = sum(file.standing is Standing.TIED for file in found.log.values())
        return FilesOfTable(
            topic=topic.name,
            files=len(found.log),
            bytes=sum(file.bytes for file in found.log.values()),
            small_files=sum(is_small(file.bytes, self._limits) for file in found.log.values()),
            tied_files=tied,
            mergeable_files=sum(len(unit.files) for group in groups for unit in group),
            merged_files=sum(any(unit[at] is not None for unit in group) for group in groups for at in _FILE_FIELDS),
            mergeable_bytes=sum(unit.bytes for group in groups for unit in group),
            advice=_advice(tied, lineage=found.has_lineage),
        )


def _advice(tied: int, *, lineage: bool) -> str | None:
    if lineage:
        return "its files are not merged: the table has format version 3, whose rows have ids by their place in a file"
    if tied:
        return f"{tied} files have deleted rows: rewrite them with an engine (CALL system.rewrite_data_files)"
    return None
