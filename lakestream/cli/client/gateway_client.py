"""Sends one request to the gateway: returns its JSON answer, or fails with a sentence that says what to do."""

import http.client
import json
from collections.abc import Mapping
from typing import Any

from lakestream.cli.failures import CommandFailed
from lakestream.cli.service import Gateway

STATUS_PATH = "/admin/status"
TOPICS_PATH = "/admin/topics"
CATALOG_PATH = "/iceberg"
ANSWER_SECONDS_MAX = 30.0
UNLISTED = {"X-Lakestream-Unlisted": "show"}
"""Asks the catalog for tables that it does not list as well."""


def connection_to(gateway: Gateway, seconds_max: float) -> http.client.HTTPConnection:
    """Direct, not through a proxy that the environment may name."""
    host, port = gateway.address
    if gateway.tls is None:
        return http.client.HTTPConnection(host, port, timeout=seconds_max)
    return http.client.HTTPSConnection(host, port, timeout=seconds_max, context=gateway.tls)


def ask_gateway(
    gateway: Gateway,
    path: str,
    body: Any = None,
    *,
    headers: Mapping[str, str] | None = None,
    seconds_max: float = ANSWER_SECONDS_MAX,
) -> Any:
    """A POST if there is a body, else a GET."""
    address, connection = gateway.address, connection_to(gateway, seconds_max)
    try:
        content = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, content, {**gateway.headers, **(headers or {})})
        answer = connection.getresponse()
        found = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise CommandFailed(
            f"no Lakestream gateway answers at {address} ({error}); "
            "start one with `lakestream up`, or name it with --http HOST:PORT"
        ) from None
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise CommandFailed(f"the gateway at {address} cannot say: {_reason(found) or answer.reason}")
    return found


def _reason(body: Any) -> str | None:
    """Our own errors are a sentence; the catalog's are an object that contains one."""
    error = body.get("error") if isinstance(body, dict) else None
    return error.get("message") if isinstance(error, dict) else error
