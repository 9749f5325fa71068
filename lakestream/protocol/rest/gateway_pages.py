"""The gateway's own /readyz and /metrics, which combine those of all processes."""

import asyncio
from collections.abc import Mapping

from lakestream.administration.administration import Administration
from lakestream.protocol.rest.brokers import BrokerPages
from lakestream.protocol.rest.collectors.open_transactions import open_transactions_page
from lakestream.protocol.rest.collectors.table_copies import table_copies_page
from lakestream.protocol.rest.collectors.table_lags import table_lags_page
from lakestream.protocol.rest.health import state_of
from lakestream.protocol.rest.merge import merged_metrics


class GatewayPages:
    def __init__(self, administration: Administration, brokers: BrokerPages) -> None:
        self._administration = administration
        self._brokers = brokers

    async def states(self) -> Mapping[str, str]:
        problems = await self._administration.processes.readiness()
        return {part: state_of(problem) for part, problem in problems.items()}

    async def metrics(self) -> bytes:
        """Prometheus text."""
        processes = self._administration.processes
        brokers = await processes.brokers()
        texts = await asyncio.gather(*map(self._brokers.metrics, brokers))
        found = {str(broker.id): text for broker, text in zip(brokers, texts, strict=True) if text is not None}
        pipeline = await self._brokers.pipeline_metrics((await processes.pipeline()).name)
        lags = table_lags_page(await self._administration.lags.longest_first())
        copies = table_copies_page(await self._administration.copies.bytes_in_wal_too())
        transactions = open_transactions_page(await self._administration.transactions.oldest_first())
        return merged_metrics(found, pipeline) + lags + copies + transactions
