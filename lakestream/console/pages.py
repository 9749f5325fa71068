"""All pages of the console, as routes.

    GET  a page                          200 HTML
    POST a form                          what will happen, and a button to agree  ->  POST again: done, 303

A page that fails shows the error's sentence, with its status. What a page can do, a script can do by /admin.
"""

from collections.abc import Awaitable, Callable
from functools import wraps

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.administration import Administration
from lakestream.administration.desk import Desk
from lakestream.console.group_pages import GroupPages
from lakestream.console.lake_pages import LakePages
from lakestream.console.login_page import LoginPage
from lakestream.console.overview_page import OverviewPage
from lakestream.console.rendering import Templates
from lakestream.console.sql_page import SqlPage
from lakestream.console.static_files import static_route
from lakestream.console.topic_pages import TopicConsolePages
from lakestream.model.errors import LakestreamError
from lakestream.protocol.rest.access.logins import HttpLogins
from lakestream.protocol.rest.answers import status_of
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.protocol.rest.settings import SettingsTable

Face = Callable[[Request], Awaitable[Response]]


def console_routes(
    administration: Administration, desk: Desk, settings: SettingsTable, logins: HttpLogins | None
) -> list[AccessRoute]:
    templates = Templates()
    found = [
        *OverviewPage(desk, templates).routes(),
        *TopicConsolePages(administration, desk, templates).routes(),
        *GroupPages(desk, templates).routes(),
        *SqlPage(desk.sql, templates).routes(),
        *LakePages(desk, templates, settings).routes(),
        *([] if logins is None else LoginPage(logins, templates).routes()),
    ]
    return [
        *(
            AccessRoute(route.path, _told(templates, route.face), needs=route.needs, methods=route.methods)
            for route in found
        ),
        static_route(),
    ]


def _told(templates: Templates, face: Face) -> Face:
    """The page, or a page that says why there is none."""

    @wraps(face)
    async def page(request: Request) -> Response:
        try:
            return await face(request)
        except LakestreamError as error:
            status = status_of(error)
            return templates.page("error.html", status=status, here="", title="Not possible", problem=str(error))

    return page
