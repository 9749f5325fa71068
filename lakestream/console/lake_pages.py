"""The catalog, and the settings."""

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.desk import Desk
from lakestream.console.page_route import CONSOLE, PageRoute
from lakestream.console.rendering import Templates
from lakestream.protocol.rest.access.rights import rights_of
from lakestream.protocol.rest.settings import LOOK_AT_SETTINGS, SettingsTable
from lakestream.protocol.rest.summary import LOOK_AT_CATALOG, shown_listing


class LakePages:
    def __init__(self, desk: Desk, templates: Templates, settings: SettingsTable) -> None:
        self._desk = desk
        self._templates = templates
        self._settings = settings

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute(path=f"{CONSOLE}/catalog", face=self.catalog, needs=LOOK_AT_CATALOG),
            PageRoute(path=f"{CONSOLE}/settings", face=self.settings, needs=LOOK_AT_SETTINGS),
        ]

    async def catalog(self, request: Request) -> Response:
        found = shown_listing(await self._desk.catalog.look(), rights_of(request))
        return self._templates.page("catalog.html", here="catalog", title="Catalog", namespaces=found)

    async def settings(self, request: Request) -> Response:
        return self._templates.page("settings.html", here="settings", title="Settings", settings=self._settings)
