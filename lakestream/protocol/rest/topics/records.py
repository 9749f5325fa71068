"""/admin/topics/{name}/records: a few records, decoded beside their bytes, with the place that served each.

    ?partition=0&offset=12 | &time_ms=1700000000000 | (neither: the last ones)  &limit=50&text=words

Long keys, values and headers are cut, and say how long they are.
"""

import base64
import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from lakestream.administration.topics.records import RecordsAsk, RecordsLook, ShownRecord, TopicRecords
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.rest.asked import asked_number

LOOK_AT_RECORDS = (Need(Operation.READ, ResourceType.TOPIC),)
SHOWN_BYTES_MAX = 4_096
"""Of each key, value and header."""


async def records_page(records: TopicRecords, request: Request) -> dict[str, Any]:
    return records_json(await records.look(request.path_params["name"], records_ask(request)))


def records_ask(request: Request) -> RecordsAsk:
    """Raises InvalidRequest."""
    return RecordsAsk(
        partition=asked_number(request, "partition") or 0,
        offset=asked_number(request, "offset"),
        time_ms=asked_number(request, "time_ms"),
        limit=asked_number(request, "limit") or 50,
        contains=request.query_params.get("text", "")[:200],
    )


def records_json(look: RecordsLook) -> dict[str, Any]:
    return {
        "topic": look.topic,
        "partition": look.partition,
        "partitions": look.partitions,
        "log_start": look.tail.log_start,
        "end": look.tail.next_offset,
        "next_offset": look.next_offset,
        "scanned": look.scanned,
        "records": [_record_json(record) for record in look.records],
    }


def _record_json(record: ShownRecord) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "key": shown_bytes(record.key),
        "value": shown_bytes(record.value),
        "headers": [{"name": name, "value": shown_bytes(value)} for name, value in record.headers],
        "decoded": None if record.decoded.columns is None else json.loads(decoded_text(record.decoded.columns)),
        "problem": record.decoded.problem,
        "place": {"kind": record.place.kind, "name": record.place.name},
    }


def shown_bytes(content: bytes | None) -> dict[str, Any] | None:
    """Text if it is UTF-8, otherwise base64."""
    if content is None:
        return None
    cut = content[:SHOWN_BYTES_MAX]
    try:
        # A cut may have split a character.
        shown = {"text": cut.decode() if len(cut) == len(content) else cut.decode(errors="ignore")}
    except UnicodeDecodeError:
        shown = {"base64": base64.b64encode(cut).decode()}
    return {**shown, "bytes": len(content)}


def decoded_text(columns: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Columns as JSON. Times, decimals and bytes become text."""
    return json.dumps(_finite(columns), ensure_ascii=False, default=_as_text, indent=indent)


def _finite(value: Any) -> Any:
    """JSON has no infinities and no NaN: these become text."""
    match value:
        case float():
            return value if math.isfinite(value) else str(value)
        case dict():
            return {str(name): _finite(one) for name, one in value.items()}
        case list() | tuple():
            return [_finite(one) for one in value]
        case _:
            return value


def _as_text(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
