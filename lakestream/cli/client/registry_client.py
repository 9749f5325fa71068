"""The commands' client of the schema registry: one request, one answer, errors as sentences."""

import http.client
import json
from typing import Any
from urllib.parse import quote, urlencode

from lakestream.cli.client.gateway_client import connection_to
from lakestream.cli.failures import CommandFailed
from lakestream.cli.service import Gateway

_ANSWER_SECONDS_MAX = 60.0
"""Comparing a large schema with many versions takes seconds."""
_HEADERS = {
    "Content-Type": "application/vnd.schemaregistry.v1+json",
    "Confluent-Accept-Unknown-Properties": "true",  # answers may contain fields that older clients do not know
}


class RegistryClient:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def ask(self, method: str, *path: str, body: Any = None, **query: object) -> Any:
        """`path` are the parts of the path, not escaped. Raises CommandFailed."""
        target = "/registry/" + "/".join(quote(part, safe="") for part in path)
        target += "?" + urlencode({key: str(value).lower() for key, value in query.items() if value is not None})
        connection = connection_to(self._gateway, _ANSWER_SECONDS_MAX)
        try:
            connection.request(
                method, target, None if body is None else json.dumps(body), {**_HEADERS, **self._gateway.headers}
            )
            answer = connection.getresponse()
            found = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise CommandFailed(
                f"no Lakestream gateway answers at {self._gateway} ({error}); "
                "start one with `lakestream up`, or name it with --http HOST:PORT"
            ) from None
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise CommandFailed(f"{found.get('message', answer.reason)} (error {found.get('error_code')})")
        return found
