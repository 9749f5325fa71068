"""The processes of the cluster: live brokers, their readiness and losses, and the pipeline.

metadata store -> brokers and the pipeline whose leases have not run out
each broker    -> its own answers, by way of BrokerAnswers
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lakestream.administration.pipeline import Pipelines, PipelineState
from lakestream.broker.losses import Loss
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import LiveBroker
from lakestream.model.configs.profile import FlushCost, Profile
from lakestream.model.errors import LakestreamError

PIPELINE = "pipeline"
"""The name of this part among those that may be ready or not."""


class BrokerAnswers(Protocol):
    """Asks brokers. Each question has a time limit, and none of them raises."""

    async def problem(self, broker: LiveBroker) -> str | None:
        """Why the broker is not ready; None if it is."""
        ...

    async def losses(self, broker: LiveBroker) -> Sequence[Loss]:
        """Records that the broker could not read lately. Empty if the broker does not answer."""
        ...

    async def flush_costs(self, broker: LiveBroker) -> Sequence[FlushCost]:
        """What the broker's flushes have cost, by profile. Empty if the broker does not answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStatus:
    broker: LiveBroker
    problem: str | None
    """Why the broker is not ready; None if it is."""


class LiveProcesses:
    def __init__(self, store: MetadataStore, answers: BrokerAnswers, pipelines: Pipelines) -> None:
        self._store = store
        self._answers = answers
        self._pipelines = pipelines

    async def brokers(self) -> tuple[LiveBroker, ...]:
        return await self._store.live_brokers()

    async def pipeline(self) -> PipelineState:
        return await self._pipelines.state()

    async def statuses(self, brokers: Sequence[LiveBroker]) -> tuple[BrokerStatus, ...]:
        problems = await asyncio.gather(*map(self._answers.problem, brokers))
        return tuple(
            BrokerStatus(broker=broker, problem=problem) for broker, problem in zip(brokers, problems, strict=True)
        )

    async def losses(self, brokers: Iterable[LiveBroker]) -> list[Loss]:
        """Records that any of the brokers could not read lately, each place once."""
        found = await asyncio.gather(*map(self._answers.losses, brokers))
        return list({(loss.partition, loss.offset): loss for losses in found for loss in losses}.values())

    async def flush_costs(self, brokers: Iterable[LiveBroker]) -> tuple[FlushCost, ...]:
        """What the flushes of all brokers have cost, by profile."""
        found = await asyncio.gather(*map(self._answers.flush_costs, brokers))
        return tuple(_total(profile, [cost for costs in found for cost in costs]) for profile in Profile)

    async def readiness(self) -> Mapping[str, str | None]:
        """The problem of the metadata store, of each live broker and of the pipeline; None for a part that is ready."""
        try:
            brokers = await self.brokers()
        except LakestreamError as error:
            return {"metadata": str(error)}
        found = {f"broker-{one.broker.id}": one.problem for one in await self.statuses(brokers)}
        nobody = {"broker": "no broker is alive; start one with `lakestream broker`"}
        return {"metadata": None, **(found or nobody), PIPELINE: (await self.pipeline()).problem}


def _total(profile: Profile, costs: Iterable[FlushCost]) -> FlushCost:
    own = [cost for cost in costs if cost.profile == profile]
    return FlushCost(
        profile=profile,
        puts=sum(cost.puts for cost in own),
        put_bytes=sum(cost.put_bytes for cost in own),
        inline_flushes=sum(cost.inline_flushes for cost in own),
        inline_bytes=sum(cost.inline_bytes for cost in own),
    )
