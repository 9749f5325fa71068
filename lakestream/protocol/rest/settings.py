"""/admin/settings: every setting of this gateway with its value, its source and its meaning. Secrets are hidden."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.rest.routing import AccessRoute

LOOK_AT_SETTINGS = (Need(Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER),)
SettingsTable = Sequence[Mapping[str, Any]]
"""Rows of name, value, source and meaning."""


def settings_routes(rows: SettingsTable) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return JSONResponse({"settings": list(rows)})

    return [AccessRoute("/admin/settings", look, needs=LOOK_AT_SETTINGS)]
