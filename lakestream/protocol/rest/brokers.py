"""The brokers, and the pipeline, as the gateway asks them: are you ready, what have you counted, what can you not read?

Each call goes to all live brokers at once and is bounded in time: one that does not answer is reported,
and delays nobody for longer.
"""

import asyncio
from collections.abc import Iterable, Mapping

import httpx

from lakestream.broker.losses import Loss
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import LiveBroker
from lakestream.model.errors import LakestreamError
from lakestream.protocol.rest.health import READY
from lakestream.protocol.rest.losses import LOSSES_PATH, read_losses
from lakestream.protocol.rest.merge import merged_metrics
from lakestream.protocol.rest.table_copies import TableCopies
from lakestream.protocol.rest.table_lags import table_lags_page
from lakestream.world.clock import Clock

_ANSWER_SECONDS_MAX = 2.0
ANSWERS_AT = "@"
"""In the name under which a pipeline holds its lease, before the address where it serves its metrics."""


class Brokers:
    def __init__(self, store: MetadataStore, clock: Clock) -> None:
        self._store = store
        self._copies = TableCopies(store, clock)
        # Not by way of a proxy that the environment names: brokers are neighbours.
        self._http = httpx.AsyncClient(timeout=_ANSWER_SECONDS_MAX, trust_env=False)

    async def live(self) -> tuple[LiveBroker, ...]:
        return await self._store.live_brokers()

    async def states(self) -> Mapping[str, str]:
        """The metadata store and each live broker, as /readyz shows them."""
        try:
            brokers = await self.live()
        except LakestreamError as error:
            return {"metadata": str(error)}
        states = await self.readiness(brokers)
        some = {} if brokers else {"broker": "no broker is alive; start one with `lakestream broker`"}
        # The one that holds the lease. Without a pipeline the log is complete: that is no fault.
        pipeline = {} if await self._store.jobs.compaction_holder() is None else {"pipeline": READY}
        return {
            "metadata": READY,
            **{f"broker-{number}": state for number, state in states.items()},
            **some,
            **pipeline,
        }

    async def readiness(self, brokers: Iterable[LiveBroker]) -> dict[int, str]:
        asked = list(brokers)
        states = await asyncio.gather(*(self._readiness(broker) for broker in asked))
        return {broker.id: state for broker, state in zip(asked, states, strict=True)}

    async def metrics(self) -> bytes:
        brokers = await self.live()
        texts = await asyncio.gather(*(self._get(broker.http, "/metrics") for broker in brokers))
        found = {str(broker.id): text for broker, text in zip(brokers, texts, strict=True) if text is not None}
        tables = await table_lags_page(self._store) + await self._copies.page()
        return merged_metrics(found, await self._pipeline_metrics()) + tables

    async def losses(self, brokers: Iterable[LiveBroker]) -> list[Loss]:
        """What any of them could not read lately, each place once."""
        pages = await asyncio.gather(*(self._get(broker.http, LOSSES_PATH) for broker in brokers))
        found = [loss for page in pages if page is not None for loss in read_losses(page)]
        return list({(loss.partition, loss.offset): loss for loss in found}.values())

    async def _pipeline_metrics(self) -> str | None:
        """Of the pipeline that holds the lease: its name says where it answers."""
        _, found, address = (await self._store.jobs.compaction_holder() or "").rpartition(ANSWERS_AT)
        return await self._get(address, "/metrics") if found else None

    async def close(self) -> None:
        await self._http.aclose()

    async def _readiness(self, broker: LiveBroker) -> str:
        try:
            answer = await self._http.get(f"http://{broker.http}/readyz")
        except httpx.HTTPError as error:
            return f"does not answer at {broker.http}: {type(error).__name__}"
        if answer.status_code == httpx.codes.OK:
            return READY
        return answer.text

    async def _get(self, address: str, path: str) -> str | None:
        try:
            answer = await self._http.get(f"http://{address}{path}")
        except httpx.HTTPError:
            return None
        return answer.text if answer.status_code == httpx.codes.OK else None
