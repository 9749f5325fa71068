"""/admin/groups: list groups with their lag, look at one with its members, reset its offsets, delete it.

GET    /admin/groups?search=&page=        a page of groups
GET    /admin/groups/{group}              members, offsets, lag
POST   /admin/groups/{group}/reset        {"topic": "orders", "to": "earliest" | "latest" | offset | "@milliseconds",
                                           "partitions": [0], "dry_run": true}   -> the offsets before and after
DELETE /admin/groups/{group}
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.groups import GroupLook, GroupLooks, GroupRow
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest
from lakestream.protocol.rest.access.rights import Rights, rights_of
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.asked import asked_object, asked_page
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/groups"
FIND_GROUPS = (
    Need(Operation.DESCRIBE, ResourceType.GROUP, scope="each that is listed"),
    Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="each that is listed"),
)
LOOK_AT_GROUP = (
    Need(Operation.DESCRIBE, ResourceType.GROUP),
    Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="each that is listed"),
)
RESET_GROUP = (Need(Operation.READ, ResourceType.GROUP), Need(Operation.READ, ResourceType.TOPIC))
DELETE_GROUP = (Need(Operation.DELETE, ResourceType.GROUP),)


def group_routes(groups: GroupLooks) -> list[AccessRoute]:
    async def find(request: Request) -> Response:
        return await answered(_page(groups, request))

    async def look(request: Request) -> Response:
        return await answered(_one(groups, request.path_params["group"], rights_of(request)))

    async def reset(request: Request) -> Response:
        return await answered(_moves(groups, request.path_params["group"], await request.body(), rights_of(request)))

    async def delete(request: Request) -> Response:
        return await answered(_deleted(groups, request.path_params["group"]))

    one = PATH + "/{group:path}"
    return [
        AccessRoute(PATH, find, needs=FIND_GROUPS),
        AccessRoute(one + "/reset", reset, needs=RESET_GROUP, methods=["POST"]),
        AccessRoute(one, look, needs=LOOK_AT_GROUP),
        AccessRoute(one, delete, needs=DELETE_GROUP, methods=["DELETE"]),
    ]


async def _page(groups: GroupLooks, request: Request) -> dict[str, Any]:
    search = request.query_params.get("search", "")
    found = await groups.find(search, asked_page(request), shows=shown_groups(request))
    return {
        "groups": [_row_json(row) for row in shown_topics_of(found.rows, rights_of(request))],
        "page": found.page,
        "pages": found.pages,
        "found": found.found,
    }


async def _one(groups: GroupLooks, group: str, rights: Rights) -> dict[str, Any]:
    return _look_json(shown_look(await groups.one(group), rights))


def shown_groups(request: Request) -> Callable[[str], bool]:
    rights = rights_of(request)
    return lambda group: rights.shows(Operation.DESCRIBE, (ResourceType.GROUP, group))


def shown_topics_of(rows: Sequence[GroupRow], rights: Rights) -> list[GroupRow]:
    """The rows without names of topics that the caller may not describe."""
    return [replace(row, topics=tuple(one for one in row.topics if _shows(rights, one))) for row in rows]


def shown_look(look: GroupLook, rights: Rights) -> GroupLook:
    """The group without partitions of topics that the caller may not describe."""
    members = tuple(
        replace(member, partitions=tuple(one for one in member.partitions if _shows(rights, one[0])))
        for member in look.members
    )
    return replace(look, members=members, partitions=tuple(one for one in look.partitions if _shows(rights, one.topic)))


def _shows(rights: Rights, topic: str) -> bool:
    return rights.shows(Operation.DESCRIBE, (ResourceType.TOPIC, topic))


async def _moves(groups: GroupLooks, group: str, body: bytes, rights: Rights) -> dict[str, Any]:
    asked = asked_object(body, {"topic", "to", "partitions", "dry_run"}, like='{"topic": "orders", "to": "earliest"}')
    topic, to, partitions, dry_run = (asked.get(name) for name in ("topic", "to", "partitions", "dry_run"))
    if not isinstance(topic, str) or not isinstance(to, str | int) or isinstance(to, bool):
        raise InvalidRequest("'topic' is a name, and 'to' is earliest, latest, an offset or a time as @milliseconds")
    if partitions is not None and not (isinstance(partitions, list) and all(type(one) is int for one in partitions)):
        raise InvalidRequest("'partitions' is a list of numbers; without it all partitions are meant")
    rights.must(Operation.READ, (ResourceType.TOPIC, topic))
    moves = await groups.reset(group, topic, to, partitions=partitions, dry_run=dry_run is True)
    return {"group": group, "topic": topic, "done": dry_run is not True, "moves": [asdict(move) for move in moves]}


async def _deleted(groups: GroupLooks, group: str) -> dict[str, Any]:
    await groups.delete(group)
    return {"group": group, "done": "deleted"}


def _row_json(row: GroupRow) -> dict[str, Any]:
    return {
        "group": row.group,
        "type": row.kind.name.lower(),
        "empty": row.empty,
        "lag": row.lag,
        "topics": list(row.topics),
    }


def _look_json(look: GroupLook) -> dict[str, Any]:
    return {
        "group": look.group,
        "type": look.kind.name.lower(),
        "state": look.state,
        "lag": look.lag,
        "members": [asdict(member) for member in look.members],
        "partitions": [{**asdict(one), "lag": one.lag} for one in look.partitions],
    }
