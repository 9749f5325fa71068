"""The gateway's client for the pages of brokers and of the pipeline: readiness, metrics, lost records.

Each request has a time limit: a broker that does not answer is reported, and delays nobody for longer.
"""

import re

import httpx

from lakestream.administration.traffic import COUNTERS
from lakestream.broker.losses import Loss
from lakestream.model.broker import LiveBroker
from lakestream.model.configs.profile import FlushCost
from lakestream.protocol.rest.access.callers import CLUSTER_SECRET_HEADER
from lakestream.protocol.rest.broker_pages.flushes import FLUSHES_PATH, read_flushes
from lakestream.protocol.rest.broker_pages.losses import LOSSES_PATH, read_losses

_ANSWER_SECONDS_MAX = 2.0
_SAMPLE = re.compile(r"^(\w+) ([0-9.e+]+)$", re.MULTILINE)
"""A sample without labels, in Prometheus' text."""
ANSWERS_AT = "@"
"""In the name under which a pipeline holds its lease, this precedes the address where it serves its metrics."""


class BrokerPages:
    def __init__(self, secret: str = "") -> None:
        """`secret`: the cluster's, which brokers ask for if they check access."""
        # No proxy from the environment: brokers are neighbours.
        headers = {CLUSTER_SECRET_HEADER: secret}
        self._http = httpx.AsyncClient(timeout=_ANSWER_SECONDS_MAX, trust_env=False, headers=headers)

    async def problem(self, broker: LiveBroker) -> str | None:
        try:
            answer = await self._http.get(f"http://{broker.http}/readyz")
        except httpx.HTTPError as error:
            return f"does not answer at {broker.http}: {type(error).__name__}"
        return None if answer.status_code == httpx.codes.OK else answer.text

    async def losses(self, broker: LiveBroker) -> list[Loss]:
        page = await self._get(broker.http, LOSSES_PATH)
        return [] if page is None else read_losses(page)

    async def flush_costs(self, broker: LiveBroker) -> list[FlushCost]:
        page = await self._get(broker.http, FLUSHES_PATH)
        return [] if page is None else read_flushes(page)

    async def metrics(self, broker: LiveBroker) -> str | None:
        """Prometheus text. None: the broker does not answer."""
        return await self._get(broker.http, "/metrics")

    async def counters(self, broker: LiveBroker) -> dict[str, float] | None:
        """The counters of a broker that the traffic is made of."""
        text = await self.metrics(broker)
        if text is None:
            return None
        found = dict(_SAMPLE.findall(text))
        return {name: float(found.get(f"lakestream_{name}_total", 0)) for name in COUNTERS}

    async def pipeline_metrics(self, holder: str | None) -> str | None:
        """Metrics of the pipeline that holds the lease. The holder's name contains its address."""
        _, found, address = (holder or "").rpartition(ANSWERS_AT)
        return await self._get(address, "/metrics") if found else None

    async def close(self) -> None:
        await self._http.aclose()

    async def _get(self, address: str, path: str) -> str | None:
        try:
            answer = await self._http.get(f"http://{address}{path}")
        except httpx.HTTPError:
            return None
        return answer.text if answer.status_code == httpx.codes.OK else None
