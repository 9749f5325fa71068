"""/groups on every broker: describe, commit offsets for, and delete a group that this broker coordinates.

The gateway asks every live broker; a broker that does not coordinate the group answers 421. Group names travel in the
query, because they may contain anything.

GET    /groups?group=g                                          -> {"kind", "state", "members"}
POST   /groups?group=g {"offsets": [[topic id, partition, offset], ...]}  for a group without members
DELETE /groups?group=g
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.broker.directory import Directory
from lakestream.broker.groups.administration import GroupAdministration
from lakestream.broker.groups.embedded import MalformedProtocol, read_assignment
from lakestream.broker.groups.errors import GroupNotFound
from lakestream.broker.groups.offsets import CommitAsk
from lakestream.broker.groups.saved.state import Assignment
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest, LakestreamError, NotCoordinator, Unavailable
from lakestream.model.group import CommittedOffset, GroupKind, TopicPartition
from lakestream.protocol.rest.routing import AccessRoute

GROUPS_PATH = "/groups"
NOT_COORDINATOR = 421
BODY_BYTES_MAX = 4 * 1024 * 1024


def broker_group_routes(groups: Callable[[], tuple[GroupAdministration, Directory] | None]) -> list[AccessRoute]:
    """`groups` returns None until the broker has joined its cluster."""
    faces = _Faces(groups)
    return [
        AccessRoute(GROUPS_PATH, faces.describe, needs=(Need(Operation.DESCRIBE, ResourceType.GROUP),)),
        AccessRoute(
            GROUPS_PATH,
            faces.commit,
            needs=(Need(Operation.READ, ResourceType.GROUP), Need(Operation.READ, ResourceType.TOPIC)),
            methods=["POST"],
        ),
        AccessRoute(GROUPS_PATH, faces.delete, needs=(Need(Operation.DELETE, ResourceType.GROUP),), methods=["DELETE"]),
    ]


class _Faces:
    def __init__(self, groups: Callable[[], tuple[GroupAdministration, Directory] | None]) -> None:
        self._groups = groups

    async def describe(self, request: Request) -> Response:
        return await _answered(self._description(_name(request)))

    async def commit(self, request: Request) -> Response:
        return await _answered(self._committed(_name(request), await request.body()))

    async def delete(self, request: Request) -> Response:
        return await _answered(self._deleted(_name(request)))

    async def _description(self, group: str) -> dict[str, Any]:
        verbs, directory = self._ready()
        try:
            newer = await verbs.describe_consumer(group)
        except GroupNotFound:
            return await self._other_description(group)
        members = [
            _member(
                one.member.id,
                one.member.client_id,
                one.member.client_host,
                _named_partitions(directory, one.member.assigned),
            )
            for one in newer.members
        ]
        return {"kind": GroupKind.CONSUMER, "state": newer.phase, "members": members}

    async def _other_description(self, group: str) -> dict[str, Any]:
        verbs, directory = self._ready()
        try:
            share = await verbs.describe_share(group)
        except GroupNotFound:
            classic = await verbs.describe_classic(group)
            members = [
                _member(one.member_id, one.client_id, one.client_host, _classic_partitions(one.assignment))
                for one in classic.members
            ]
            return {"kind": GroupKind.CLASSIC, "state": classic.phase, "members": members}
        members = [
            _member(
                one.member.id, one.member.client_id, one.member.client_host, _named_partitions(directory, one.assigned)
            )
            for one in share.members
        ]
        return {"kind": GroupKind.SHARE, "state": share.phase, "members": members}

    async def _committed(self, group: str, body: bytes) -> dict[str, Any]:
        verbs, _ = self._ready()
        refused = await verbs.commit(CommitAsk(group, _offsets(body)))
        if refused:
            raise next(iter(refused.values()))
        return {}

    async def _deleted(self, group: str) -> dict[str, Any]:
        verbs, _ = self._ready()
        await verbs.delete(group)
        return {}

    def _ready(self) -> tuple[GroupAdministration, Directory]:
        found = self._groups()
        if found is None:
            raise NotCoordinator("this broker has not joined its cluster yet")
        return found


def _name(request: Request) -> str:
    return request.query_params.get("group", "")


async def _answered(body: Awaitable[dict[str, Any]]) -> Response:
    try:
        return JSONResponse(await body)
    except (NotCoordinator, Unavailable) as error:
        return JSONResponse({"error": str(error)}, status_code=NOT_COORDINATOR)
    except LakestreamError as error:
        return JSONResponse({"error": str(error)}, status_code=400)


def _member(id: str, client: str, host: str, partitions: list[tuple[str, int]]) -> dict[str, Any]:
    return {"member": id, "client": client, "host": host, "partitions": partitions}


def _classic_partitions(assignment: bytes) -> list[tuple[str, int]]:
    try:
        found = read_assignment(assignment).partitions
    except MalformedProtocol:
        return []
    return sorted((topic, number) for topic, numbers in found.items() for number in numbers)


def _named_partitions(directory: Directory, assigned: Assignment) -> list[tuple[str, int]]:
    named = [(directory.known_id(one.topic), one.number) for one in assigned]
    return sorted((entry.topic.name, number) for entry, number in named if entry is not None)


def _offsets(body: bytes) -> dict[TopicPartition, CommittedOffset]:
    if len(body) > BODY_BYTES_MAX:
        raise InvalidRequest(f"the request has more than {BODY_BYTES_MAX} bytes")
    try:
        rows = json.loads(body)["offsets"]
        return {
            TopicPartition(bytes.fromhex(topic), int(number)): CommittedOffset(int(offset))
            for topic, number, offset in rows
        }
    except (ValueError, TypeError, LookupError):
        raise InvalidRequest('send a JSON object {"offsets": [[topic id, partition, offset], ...]}') from None
