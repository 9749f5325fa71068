"""The gateway's client for the group pages of brokers."""

from collections.abc import Mapping
from typing import Any

import httpx

from lakestream.administration.groups import CoordinatedGroup, GroupReader
from lakestream.model.broker import LiveBroker
from lakestream.model.errors import InvalidRequest
from lakestream.model.group import GroupKind, TopicPartition
from lakestream.protocol.rest.access.callers import CLUSTER_SECRET_HEADER
from lakestream.protocol.rest.groups.of_broker import GROUPS_PATH, NOT_COORDINATOR

_ANSWER_SECONDS_MAX = 5.0


class BrokerGroups:
    def __init__(self, secret: str = "") -> None:
        """`secret`: the cluster's, which brokers ask for if they check access."""
        # No proxy from the environment: brokers are neighbours.
        headers = {CLUSTER_SECRET_HEADER: secret}
        self._http = httpx.AsyncClient(timeout=_ANSWER_SECONDS_MAX, trust_env=False, headers=headers)

    async def describe(self, broker: LiveBroker, group: str) -> CoordinatedGroup | None:
        try:
            found = await self._ask("GET", broker, group)
        except InvalidRequest:
            return None  # it was deleted meanwhile
        if found is None:
            return None
        return CoordinatedGroup(
            kind=GroupKind(found["kind"]), state=found["state"], members=tuple(map(_reader, found["members"]))
        )

    async def commit(self, broker: LiveBroker, group: str, offsets: Mapping[TopicPartition, int]) -> bool:
        rows = [[place.topic.hex(), place.number, offset] for place, offset in offsets.items()]
        return await self._ask("POST", broker, group, {"offsets": rows}) is not None

    async def delete(self, broker: LiveBroker, group: str) -> bool:
        return await self._ask("DELETE", broker, group) is not None

    async def close(self) -> None:
        await self._http.aclose()

    async def _ask(self, method: str, broker: LiveBroker, group: str, body: Any = None) -> dict[str, Any] | None:
        """None if the broker does not answer, or does not coordinate the group. Raises InvalidRequest."""
        url = f"http://{broker.http}{GROUPS_PATH}"
        try:
            answer = await self._http.request(method, url, params={"group": group}, json=body)
            content: dict[str, Any] = answer.json()
        except (httpx.HTTPError, ValueError):
            return None
        if answer.status_code == httpx.codes.BAD_REQUEST:
            raise InvalidRequest(str(content.get("error")))
        return None if answer.status_code in (NOT_COORDINATOR, httpx.codes.NOT_FOUND) else content


def _reader(member: dict[str, Any]) -> GroupReader:
    return GroupReader(
        member_id=member["member"],
        client_id=member["client"],
        host=member["host"],
        partitions=tuple((topic, number) for topic, number in member["partitions"]),
    )
