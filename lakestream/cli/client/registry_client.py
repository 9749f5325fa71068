"""The commands' client of the schema registry: one request, one answer, errors as sentences."""

import http.client
import json
from typing import Any
from urllib.parse import quote, urlencode

from lakestream.cli.failures import CommandFailed
from lakestream.settings.address import Address

_ANSWER_SECONDS_MAX = 60.0
"""Comparing a large schema with many versions takes seconds."""
_HEADERS = {
    "Content-Type": "application/vnd.schemaregistry.v1+json",
    "Confluent-Accept-Unknown-Properties": "true",  # answers may contain fields that older clients do not know
}


class RegistryClient:
    def __init__(self, address: Address) -> None:
        self._address = address

    def ask(self, method: str, *path: str, body: Any = None, **query: object) -> Any:
        """`path` are the parts of the path, not escaped. Raises CommandFailed."""
        target = "/registry/" + "/".join(quote(part, safe="") for part in path)
        target += "?" + urlencode({key: str(value).lower() for key, value in query.items() if value is not None})
        # Connect directly, not through a proxy that the environment may name.
        connection = http.client.HTTPConnection(self._address.host, self._address.port, timeout=_ANSWER_SECONDS_MAX)
        try:
            connection.request(method, target, None if body is None else json.dumps(body), _HEADERS)
            answer = connection.getresponse()
            found = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise CommandFailed(
                f"no Lakestream gateway answers at {self._address} ({error}); "
                "start one with `lakestream up`, or name it with --http HOST:PORT"
            ) from None
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise CommandFailed(f"{found.get('message', answer.reason)} (error {found.get('error_code')})")
        return found
