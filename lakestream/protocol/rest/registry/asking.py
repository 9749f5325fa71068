"""Read a request's path, query and body. Anything not understood is refused, not ignored."""

import json
from typing import Any
from urllib.parse import unquote

from starlette.requests import ClientDisconnect, Request

from lakestream.contract.registry.limits import SCHEMA_BYTES_MAX, SCHEMA_ID_MAX
from lakestream.contract.registry.names import checked_subject, checked_version, subject_prefix
from lakestream.contract.registry.submitted import LATEST, Submitted
from lakestream.model.access import Operation
from lakestream.model.registry import SchemaFormat, SchemaReference, Shown
from lakestream.model.registry_errors import InvalidSchema, UnknownSchema, UnsupportedRules
from lakestream.protocol.rest.access.rights import rights_of, subject_resource
from lakestream.protocol.rest.registry.errors import RefusedRequest

BODY_BYTES_MAX = 8 * SCHEMA_BYTES_MAX
"""A schema is a string inside JSON, where a character may take six bytes."""
LISTED_MAX = 1_000
"""Most schemas with their text in one answer."""

_CONTENT_TYPES = (
    "application/vnd.schemaregistry.v1+json",
    "application/vnd.schemaregistry+json",
    "application/json",
    "application/octet-stream",
)
_ACCEPTS_UNKNOWN = "confluent-accept-unknown-properties"
_SCHEMA_KEYS = {"schema", "schemaType", "references", "id", "version"}
_CONTRACT_KEYS = {"metadata", "ruleSet", "schemaTagsToAdd", "schemaTagsToRemove", "propagateSchemaTags"}


def subject_of(request: Request) -> str:
    """The subject in the path. Paths are matched as sent, so that a subject may contain a slash."""
    return checked_subject(unquote(request.path_params["subject"]))


def version_of(request: Request) -> int | None:
    return checked_version(unquote(request.path_params["version"]))


def id_of(request: Request) -> int:
    """Raises UnknownSchema, also if the path does not contain a number."""
    text = request.path_params["id"]
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 0 < int(text) <= SCHEMA_ID_MAX):
        raise UnknownSchema(f"Schema {text:.20} not found")
    return int(text)


def flag(request: Request, name: str) -> bool:
    return request.query_params.get(name, "").lower() == "true"


def shown_of(request: Request) -> Shown:
    if flag(request, "deletedOnly"):
        return Shown.DELETED
    return Shown.ALL if flag(request, "deleted") else Shown.LIVE


def window_of(request: Request) -> slice:
    """The slice that offset and limit ask for. A negative limit means no limit."""
    offset, limit = _number(request, "offset", 0), _number(request, "limit", -1)
    return slice(max(offset, 0), None if limit < 0 else max(offset, 0) + limit)


def listed_window_of(request: Request) -> tuple[int, int]:
    """(offset, limit), with the limit bounded."""
    limit = _number(request, "limit", LISTED_MAX)
    return max(_number(request, "offset", 0), 0), min(limit, LISTED_MAX) if limit >= 0 else LISTED_MAX


def prefix_of(request: Request) -> str:
    return subject_prefix(text_of(request, "subjectPrefix"))


def text_of(request: Request, name: str) -> str:
    return request.query_params.get(name, "").replace("\0", "")


def is_lenient(request: Request) -> bool:
    """Newer clients announce that they skip unknown fields, and expect the same of us."""
    return request.headers.get(_ACCEPTS_UNKNOWN, "").lower() == "true"


async def body_of(request: Request, known: set[str]) -> dict[str, Any]:
    """Raises RefusedRequest unless the body is a JSON object with known keys."""
    _must_be_json(request)
    try:
        body = json.loads(await _content(request))
    except (ValueError, RecursionError):
        raise RefusedRequest(400, "the body is no JSON") from None
    if not isinstance(body, dict):
        raise RefusedRequest(422, "the body must be a JSON object")
    unknown = sorted(body.keys() - known)
    if unknown and not is_lenient(request):
        raise RefusedRequest(422, f"Unrecognized field: {unknown[0]:.80}")
    return body


async def submitted_of(request: Request) -> Submitted:
    """The schema in the body. Its answer may contain what it refers to, so that must be readable. Raises
    RefusedRequest, InvalidSchema, UnsupportedRules, Denied."""
    submitted = await _submitted(request)
    for reference in submitted.references:
        rights_of(request).must(Operation.READ, subject_resource(reference.subject))
    return submitted


async def _submitted(request: Request) -> Submitted:
    body = await body_of(request, _SCHEMA_KEYS | _CONTRACT_KEYS)
    asked = sorted(key for key in _CONTRACT_KEYS if body.get(key))
    if asked:
        raise UnsupportedRules(f"'{asked[0]}' is not kept by this registry: register the schema without it")
    return Submitted(
        format=_format(body.get("schemaType")),
        text=_wanted(body, "schema", str, ""),
        references=tuple(_reference(one) for one in _wanted(body, "references", list, [])),
        id=_given_number(body, "id"),
        version=_given_number(body, "version"),
    )


def _format(said: Any) -> SchemaFormat:
    try:
        return SchemaFormat(said or SchemaFormat.AVRO.value)
    except ValueError:
        raise InvalidSchema(f"Invalid schema type {said!r:.40}: AVRO, JSON and PROTOBUF are known") from None


def _reference(value: Any) -> SchemaReference:
    if not isinstance(value, dict):
        raise RefusedRequest(422, "a reference is an object with name, subject and version")
    name, subject = _wanted(value, "name", str, ""), _wanted(value, "subject", str, "")
    version = value.get("version", LATEST)
    whole = isinstance(version, int) and not isinstance(version, bool)
    if not name or len(name) > SCHEMA_BYTES_MAX or "\0" in name or not whole or not LATEST <= version <= SCHEMA_ID_MAX:
        raise InvalidSchema(f"the reference {name!r:.80} needs a name, a subject and a version, -1 for the latest")
    return SchemaReference(name, checked_subject(subject), version)


def _given_number(body: dict[str, Any], key: str) -> int | None:
    """Clients send null, 0 or -1 to choose nothing."""
    value = body.get(key)
    if value is None or value in (0, -1):
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= SCHEMA_ID_MAX:
        raise RefusedRequest(422, f"'{key}' must be a whole number above 0")
    return value


def _wanted(body: dict[str, Any], key: str, kind: type, default: Any) -> Any:
    value = body.get(key)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise RefusedRequest(422, f"'{key}' must be a {'string' if kind is str else kind.__name__}")
    return value


def _must_be_json(request: Request) -> None:
    said = request.headers.get("content-type", _CONTENT_TYPES[0]).partition(";")[0].strip().lower()
    if said not in _CONTENT_TYPES:
        raise RefusedRequest(415, f"the content type {said:.80} is not understood: send {_CONTENT_TYPES[0]}")


async def _content(request: Request) -> bytes:
    """The body's bytes. Reading stops at the limit."""
    content = bytearray()
    try:
        async for part in request.stream():
            content += part
            if len(content) > BODY_BYTES_MAX:
                raise RefusedRequest(413, f"the body has more than {BODY_BYTES_MAX} bytes: split the schema")
    except ClientDisconnect:
        raise RefusedRequest(400, "the body ended early") from None
    return bytes(content)


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    try:
        return min(int(text[:12]), SCHEMA_ID_MAX)
    except ValueError:
        raise RefusedRequest(422, f"'{name}' must be a whole number") from None
