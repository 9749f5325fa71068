"""The stylesheet and the script of the console: a few small files, read once."""

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from lakestream.console.page_route import CONSOLE
from lakestream.model.access import ANYONE
from lakestream.protocol.rest.routing import AccessRoute

STATIC_PATH = f"{CONSOLE}/static/{{file}}"
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_HEADERS = {"Cache-Control": "max-age=300", "X-Content-Type-Options": "nosniff"}


def static_route() -> AccessRoute:
    folder = files("lakestream.console") / "static"
    contents = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}

    async def serve(request: Request) -> Response:
        name = request.path_params["file"]
        if name not in contents:
            return PlainTextResponse("there is no such file\n", status_code=404)
        return Response(contents[name], media_type=_TYPES[name.rpartition(".")[2]], headers=_HEADERS)

    return AccessRoute(STATIC_PATH, serve, needs=ANYONE)
