"""The overview, at `/`: warnings first, then the parts, traffic, what lies at rest, and topics that are late."""

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.desk import Desk
from lakestream.console.page_route import PageRoute
from lakestream.console.rendering import Templates
from lakestream.protocol.rest.access.rights import rights_of
from lakestream.protocol.rest.summary import LOOK_AT_SUMMARY, shown_summary


class OverviewPage:
    def __init__(self, desk: Desk, templates: Templates) -> None:
        self._desk = desk
        self._templates = templates

    def routes(self) -> list[PageRoute]:
        return [PageRoute(path="/", face=self.look, needs=LOOK_AT_SUMMARY)]

    async def look(self, request: Request) -> Response:
        history = self._desk.traffic.history()
        return self._templates.page(
            "overview.html",
            here="overview",
            title="Overview",
            summary=shown_summary(await self._desk.summaries.look(), rights_of(request)),
            history=history,
            newest=history[-1] if history else None,
        )
