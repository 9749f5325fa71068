"""Request repairs of quarantined values, and read their outcome.

ask -> a row of the metadata store -> the pipeline repairs (table/repairs.py) -> outcome
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from lakestream.administration.named_topics import named_topics
from lakestream.administration.pipeline import Pipelines, PipelineState
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import NotFound
from lakestream.model.repair import RecordPlace, Repair, RepairAction, RepairId, RepairState
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
