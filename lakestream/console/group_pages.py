"""Groups: a list with lag, one with its members and partitions, reset with a dry run, deletion."""

from dataclasses import replace
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.desk import Desk
from lakestream.console.forms import SentForm
from lakestream.console.page_route import CONSOLE, PageRoute
from lakestream.console.rendering import Templates, redirected, shown_count
from lakestream.model.access import Operation, ResourceType
from lakestream.model.errors import InvalidRequest
from lakestream.protocol.rest.access.rights import rights_of
from lakestream.protocol.rest.asked import asked_page
from lakestream.protocol.rest.groups.of_gateway import (
    DELETE_GROUP,
    FIND_GROUPS,
    LOOK_AT_GROUP,
    RESET_GROUP,
    shown_groups,
    shown_look,
    shown_topics_of,
)

PATH = f"{CONSOLE}/groups"


class GroupPages:
    def __init__(self, desk: Desk, templates: Templates) -> None:
        self._desk = desk
        self._templates = templates

    def routes(self) -> list[PageRoute]:
        post = ("POST",)
        one = PATH + "/{group:path}"
        return [
            PageRoute(path=PATH, face=self.find, needs=FIND_GROUPS),
            PageRoute(path=one + "/reset", face=self.reset, needs=RESET_GROUP, methods=post),
            PageRoute(path=one + "/delete", face=self.delete, needs=DELETE_GROUP, methods=post),
            PageRoute(path=one, face=self.look, needs=LOOK_AT_GROUP),
        ]

    async def find(self, request: Request) -> Response:
        search = request.query_params.get("search", "")
        found = await self._desk.groups.find(search, asked_page(request), shows=shown_groups(request))
        found = replace(found, rows=tuple(shown_topics_of(found.rows, rights_of(request))))
        return self._templates.page("groups.html", here="groups", title="Groups", found=found, search=search)

    async def look(self, request: Request) -> Response:
        found = shown_look(await self._desk.groups.one(request.path_params["group"]), rights_of(request))
        return self._templates.page(
            "group.html",
            here="groups",
            title=found.group,
            group=found,
            topics=sorted({one.topic for one in found.partitions}),
            most=max((one.lag or 0 for one in found.partitions), default=0),
        )

    async def reset(self, request: Request) -> Response:
        group, form = request.path_params["group"], await SentForm.of(request)
        topic, to = form.text("topic"), form.text("to_value") or form.text("to")
        if not topic or not to:
            raise InvalidRequest("choose a topic, and where to go on")
        rights_of(request).must(Operation.READ, (ResourceType.TOPIC, topic))
        moves = await self._desk.groups.reset(group, topic, to, dry_run=not form.is_confirmed)
        if form.is_confirmed:
            return redirected(f"{PATH}/{quote(group, safe='')}")
        return self._templates.page(
            "confirm.html",
            here="groups",
            title=f"Reset {group}",
            question=f"Set the offsets of group {group} in {topic}?",
            consequences=[
                f"partition {move.partition}: {shown_count(move.before)} becomes {shown_count(move.after)}"
                for move in moves
            ],
            fields=form.again(),
            action="Reset offsets",
            back=f"{PATH}/{quote(group, safe='')}",
        )

    async def delete(self, request: Request) -> Response:
        group, form = request.path_params["group"], await SentForm.of(request)
        if form.is_confirmed:
            await self._desk.groups.delete(group)
            return redirected(PATH)
        return self._templates.page(
            "confirm.html",
            here="groups",
            title=f"Delete {group}",
            question=f"Delete group {group}?",
            consequences=[
                "its committed offsets are gone; readers under this name begin by their own auto.offset.reset",
                "a group that has members is not deleted",
            ],
            fields=form.again(),
            action="Delete group",
            back=f"{PATH}/{quote(group, safe='')}",
        )
