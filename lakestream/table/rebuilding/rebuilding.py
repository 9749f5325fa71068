"""Works off requests to rebuild `main` (`lakestream table rebuild`), one step of one rebuild at a time.

    asked -> side branch begun -> clustered there, go after go -> swapped -> answered
                 ^ all of it is in the table: whoever comes next goes on from what the table has

Rounds of compaction run between the steps. A rebuild that fails takes its side branch away, and says why; `main` is as
it was. A crash leaves the branch, and the request that is still waiting finds it.
"""

import json
from collections.abc import Awaitable

import structlog

from lakestream.catalog.commits.summaries import REBUILD
from lakestream.catalog.topic.rebuilding import REBUILD_BRANCH
from lakestream.catalog.topic.topic_commits import PreparedCommit, TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.topic_config import check_rebuildable, typed_topic_config
from lakestream.model.errors import Conflict, Fenced, LakestreamError, Unavailable, what_went_wrong
from lakestream.model.job import CompactionLease
from lakestream.model.repair import Repair, RepairId, RepairState
from lakestream.model.table import MAIN_BRANCH, TablePointer
from lakestream.model.table_errors import CommitConflict, UnknownTable
from lakestream.table.clustering.clustering import Clustering

log = structlog.get_logger(__name__)

CONFLICTS_MAX = 100
"""How often others may be faster than one rebuild, at its beginning or at its swap."""


class Rebuilding:
    def __init__(self, *, store: MetadataStore, commits: TopicCommits, clustering: Clustering) -> None:
        self._store = store
        self._commits = commits
        self._clustering = clustering
        self._conflicts: dict[RepairId, int] = {}

    async def step(self, lease: CompactionLease) -> bool:
        """One step of the first request. Returns whether there was one. Raises Fenced, Unavailable, RewriteFailed."""
        asked = [one for one in await self._store.repairs.asked() if one.rebuilds_main]
        if not asked:
            self._conflicts.clear()
            return False
        request = asked[0]
        try:
            await self._advance(lease, request)
        except (Fenced, Unavailable):
            raise
        except CommitConflict as error:
            self._conflicts[request.id] = self._conflicts.get(request.id, 0) + 1
            if self._conflicts[request.id] > CONFLICTS_MAX:
                await self._give_up(request, what_went_wrong(error))
        except Exception as error:  # noqa: BLE001 - or it would be tried again and again, and no other would have its turn
            await self._give_up(request, what_went_wrong(error))
        return True

    async def _advance(self, lease: CompactionLease, request: Repair) -> None:
        pointer = await self._pointer(request)
        state = await self._commits.rebuild_state(pointer)
        if (counts := state.done.get(request.id)) is not None:
            await self._store.repairs.answer(request.id, RepairState.DONE, json.dumps(counts))
        elif state.under_way != request.id:
            await self._check(request)
            await self._move(self._commits.begin_rebuild(pointer, request.id))
            log.info("a rebuild has begun", table=pointer.id, rebuild=request.id)
        elif not await self._clustering.cluster_side_branch(
            lease, request.topic, pointer, REBUILD_BRANCH, {REBUILD: request.id}
        ):
            await self._move(self._commits.end_rebuild(pointer, request.id))
            log.info("a table was rebuilt", table=pointer.id, branch=MAIN_BRANCH, rebuild=request.id)

    async def _check(self, request: Repair) -> None:
        topics = (await self._store.topics()).topics
        for topic in topics:
            if topic.id == request.topic:
                check_rebuildable(typed_topic_config(topic.config))

    async def _pointer(self, request: Repair) -> TablePointer:
        pointer = await self._store.tables.table_of_topic(request.topic)
        if pointer is None:
            raise UnknownTable("the topic has no table, or was deleted")
        return pointer

    async def _move(self, preparing: Awaitable[PreparedCommit]) -> None:
        prepared = await preparing
        try:
            await self._store.tables.move_tables([prepared.move])
        except Conflict:
            await self._commits.abandon(prepared)
            raise
        await self._commits.finish(prepared)

    async def _give_up(self, request: Repair, reason: str) -> None:
        log.warning("a table could not be rebuilt", rebuild=request.id, error=reason)
        try:
            pointer = await self._pointer(request)
            if (await self._commits.rebuild_state(pointer)).under_way is not None:
                await self._move(self._commits.drop_rebuild(pointer))
        except (Fenced, Unavailable, CommitConflict):
            raise  # the next step fails in the same way, and comes here again
        except LakestreamError as error:
            log.warning("a rebuild left its side branch", rebuild=request.id, error=what_went_wrong(error))
        await self._store.repairs.answer(request.id, RepairState.FAILED, reason)
