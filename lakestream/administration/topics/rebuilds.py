"""Request that `main` of a topic's table is made again from `log`, and look how far that is.

ask -> a row of the metadata store -> the pipeline rebuilds (table/rebuilding), step by step -> outcome
                                      the side branch shows how much is left
"""

import json
from dataclasses import dataclass

from lakestream.administration.named_topics import named_topics
from lakestream.administration.pipeline import Pipelines, PipelineState
from lakestream.administration.repairs import NoRepair
from lakestream.catalog.topic.rebuilding import REBUILD_BRANCH
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.topic_config import check_rebuildable, typed_topic_config
from lakestream.model.repair import REBUILD_REQUEST, Repair, RepairId, RepairState
from lakestream.model.topic import TopicId
from lakestream.world.ids import Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildOutcome:
    topic: str | None
    """None: it is gone."""
    state: RepairState
    pipeline: PipelineState
    begun: bool = False
    """Whether there is a side branch, or was."""
    bytes: int = 0
    """Of the files of the side branch; of the new `main` once it is done."""
    bytes_left: int = 0
    """Of these, what has yet to be clustered."""
    files: int = 0
    """Of the new `main`, once it is done ..."""
    rows: int = 0
    """... and its rows."""
    reason: str | None = None
    """Why it failed, if it did."""


class Rebuilds:
    def __init__(self, store: MetadataStore, commits: TopicCommits, pipelines: Pipelines, ids: Ids) -> None:
        self._store = store
        self._commits = commits
        self._pipelines = pipelines
        self._ids = ids

    async def ask(self, topic: str) -> RepairId:
        """A rebuild of this topic that waits already is the one that is asked for. Raises UnknownTopic,
        TooManyRepairs, UnsupportedOperation."""
        [found] = await named_topics(self._store, [topic])
        check_rebuildable(typed_topic_config(found.config))
        waiting = [one for one in await self._store.repairs.asked() if one.rebuilds_main and one.topic == found.id]
        if waiting:
            return waiting[0].id
        request = Repair(id=self._ids.ulid(), topic=found.id, request=REBUILD_REQUEST)
        await self._store.repairs.ask(request)
        return request.id

    async def outcome(self, id: RepairId) -> RebuildOutcome:
        """Raises NoRepair, DamagedTable."""
        request = await self._store.repairs.look(id)
        if request is None or not request.rebuilds_main:
            raise NoRepair(f"there is no rebuild {id:.64}: it may have been forgotten, an hour after it was done")
        pipeline, answer, topic = await self._pipelines.state(), request.answer or "", await self._name(request.topic)
        if request.state is RepairState.DONE:
            return RebuildOutcome(topic=topic, state=request.state, pipeline=pipeline, begun=True, **json.loads(answer))
        if request.state is RepairState.FAILED:
            return RebuildOutcome(topic=topic, state=request.state, pipeline=pipeline, reason=answer)
        return await self._under_way(request, pipeline, topic)

    async def _name(self, topic: TopicId) -> str | None:
        topics = (await self._store.topics()).topics
        return next((one.name for one in topics if one.id == topic), None)

    async def _under_way(self, request: Repair, pipeline: PipelineState, topic: str | None) -> RebuildOutcome:
        pointer = await self._store.tables.table_of_topic(request.topic)
        if pointer is None or (await self._commits.rebuild_state(pointer)).under_way != request.id:
            return RebuildOutcome(topic=topic, state=request.state, pipeline=pipeline)
        found = await self._commits.clusterable(pointer, REBUILD_BRANCH)
        return RebuildOutcome(
            topic=topic,
            state=request.state,
            pipeline=pipeline,
            begun=True,
            bytes=sum(file.bytes for file in found.files),
            bytes_left=0 if found.layout.is_plain else sum(file.bytes for file in found.waiting),
        )
