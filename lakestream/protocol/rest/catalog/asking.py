"""Read a request: names from its path, JSON from its body, the idempotency key from its headers; pages of a list."""

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from starlette.requests import Request

from lakestream.catalog.spec.requests import Once, TableChange, checked_name, checked_namespace
from lakestream.catalog.spec.values import Json, shown, wanted, wanted_objects, whole_number
from lakestream.model.caller import ANONYMOUS, Caller
from lakestream.model.table import Namespace
from lakestream.model.table_errors import InvalidTableChange
from lakestream.protocol.rest.catalog.json_body import read_body

BODY_BYTES_MAX = 64 * 1024 * 1024
"""A commit carries a snapshot's summary and schemas, not data. A larger body is refused."""
PAGE_MAX = 1_000
IDEMPOTENCY_KEY = "idempotency-key"
_BODY = "catalog_body"
_LEVEL_SEPARATOR = "\x1f"
_UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

T = TypeVar("T")


class Page(NamedTuple):
    items: Sequence[Any]
    next_token: str | None


async def body_of(request: Request) -> Json:
    """Raises InvalidTableChange unless the body is a JSON object."""
    content = await raw_body(request)
    body = read_body(content) if content else {}
    if not isinstance(body, dict):
        raise InvalidTableChange("the body must be a JSON object")
    return body


async def raw_body(request: Request) -> bytes:
    """The body's bytes, on every call. Reading stops at the limit, whatever the request says about its length."""
    if not hasattr(request.state, _BODY):
        content = bytearray()
        async for chunk in request.stream():
            content += chunk
            if len(content) > BODY_BYTES_MAX:
                raise InvalidTableChange(f"the body has more than {BODY_BYTES_MAX} bytes: send less at once")
        setattr(request.state, _BODY, bytes(content))
    found: bytes = getattr(request.state, _BODY)
    return found


async def once_of(request: Request) -> Once | None:
    """Raises InvalidTableChange for a key that is not a uuid."""
    key = request.headers.get(IDEMPOTENCY_KEY)
    if key is None:
        return None
    if not _UUID.fullmatch(key):
        raise InvalidTableChange(f"Idempotency-Key must be a uuid, best of version 7, not {key!r}")
    asked = f"{request.method} {request.url.path}?{request.url.query}\n{_asker(request)}".encode()
    asked += await raw_body(request)
    return Once(key=key.lower(), request=hashlib.sha256(asked).hexdigest())


def _asker(request: Request) -> str:
    caller: Caller | None = getattr(request.state, "caller", None)
    return "" if caller is None or caller.principal == ANONYMOUS else f"{caller.principal}\n"


def namespace_of(request: Request) -> Namespace:
    return checked_namespace(str(request.path_params["namespace"]).split(_LEVEL_SEPARATOR))


def parent_of(request: Request) -> Namespace:
    asked = request.query_params.get("parent", "")
    return checked_namespace(asked.split(_LEVEL_SEPARATOR)) if asked else ()


def named(request: Request, what: str) -> tuple[Namespace, str]:
    """The table or view in the path."""
    return namespace_of(request), checked_name(request.path_params[what])


def identifier(value: Any, name: str) -> tuple[Namespace, str]:
    """The table or view in a body."""
    found = wanted(value, name, dict)
    return checked_namespace(found.get("namespace")), checked_name(found.get("name"))


def change_of(body: Json, namespace: Namespace, name: str) -> TableChange:
    requirements = wanted_objects(body, "requirements") if body.get("requirements") is not None else []
    return TableChange(
        namespace=namespace, name=name, requirements=requirements, updates=wanted_objects(body, "updates")
    )


def page_of(request: Request, items: Sequence[T], names: Sequence[str]) -> Page:
    """The requested page of a sorted list; the whole list if the request does not ask for pages.

    A token names the last item before the page, so items that are added or removed meanwhile shift nothing.
    """
    token, size = request.query_params.get("pageToken"), request.query_params.get("pageSize")
    if token is None and size is None:
        return Page(items, None)
    after = _decoded(token) if token else None
    start = next((i for i, name in enumerate(names) if after is None or name > after), len(names))
    end = start + _page_size(size)
    return Page(items[start:end], _encoded(names[end - 1]) if end < len(names) else None)


def _page_size(asked: str | None) -> int:
    if asked is None:
        return PAGE_MAX
    size = whole_number(asked)
    if size is None or size < 1:
        raise InvalidTableChange(f"pageSize must be a whole number above 0, not {shown(asked)}")
    return min(size, PAGE_MAX)


def _encoded(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _decoded(token: str) -> str:
    try:
        return base64.b64decode(token.encode(), altchars=b"-_", validate=True).decode()
    except ValueError:
        raise InvalidTableChange("pageToken must be a next-page-token of an earlier answer") from None
