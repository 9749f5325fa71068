"""Read what a request to an /admin page asks: a JSON object of known fields, a page, a number."""

import json
from collections.abc import Set
from typing import Any

from starlette.requests import Request

from lakestream.model.errors import InvalidRequest

BODY_BYTES_MAX = 1024 * 1024
_DIGITS_MAX = 18


def asked_object(body: bytes, known: Set[str], *, like: str) -> dict[str, Any]:
    """Raises InvalidRequest. `like` is an example for the message."""
    if len(body) > BODY_BYTES_MAX:
        raise InvalidRequest(f"the request has more than {BODY_BYTES_MAX} bytes")
    try:
        found = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise InvalidRequest(f"the body is no JSON: send an object like {like}") from None
    if not isinstance(found, dict):
        raise InvalidRequest(f"send a JSON object like {like}")
    if unknown := sorted(set(found) - known):
        raise InvalidRequest(f"'{unknown[0]}' is not known here: send an object like {like}")
    return found


def asked_text(asked: dict[str, Any], name: str) -> str | None:
    """A text of the object; None if it is missing. Raises InvalidRequest."""
    found = asked.get(name)
    if found is not None and (not isinstance(found, str) or not found):
        raise InvalidRequest(f"'{name}' is a text")
    return found


def asked_whole_number(asked: dict[str, Any], name: str) -> int | None:
    """A whole number of the object; None if it is missing. Raises InvalidRequest."""
    found = asked.get(name)
    if found is not None and type(found) is not int:
        raise InvalidRequest(f"'{name}' is a whole number")
    return found


def asked_texts(asked: dict[str, Any], name: str) -> dict[str, str | None]:
    """An object of texts; null takes what it names back to its default. Raises InvalidRequest."""
    found = asked.get(name) or {}
    if not isinstance(found, dict) or not all(isinstance(one, str | None) for one in found.values()):
        raise InvalidRequest(f"'{name}' is an object of texts; null takes one back to its default")
    return found


def asked_page(request: Request) -> int:
    return asked_number(request, "page") or 1


def asked_number(request: Request, name: str) -> int | None:
    """A number of the query; None if it is missing or empty. Raises InvalidRequest."""
    text = request.query_params.get(name, "").strip()
    if not text:
        return None
    if not text.isdecimal() or len(text) > _DIGITS_MAX:
        raise InvalidRequest(f"'{name}' is a whole number, not '{text[:40]}'")
    return int(text)
