"""/admin/quarantine: count quarantined values (GET), and request their repair (POST).

GET  /admin/quarantine         counts of every topic that ever had any
GET  /admin/quarantine/orders  count of one topic
POST /admin/quarantine/orders {"action": "retry" | "discard",
                               "chosen": [[partition, offset], ...],               without: all of them
                               "fixes": [[partition, offset, value in base64], ...]}  other bytes for the table
  -> {"repair": id}; the pipeline does it, and  GET /admin/repairs/{id}  shows its outcome
"""

import base64
import binascii
import json
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.quarantine import Quarantine, QuarantineCount
from lakestream.administration.repairs import RepairRequest, RepairRequests
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest
from lakestream.model.repair import RecordPlace, RepairAction
from lakestream.protocol.rest.access.rights import Rights, rights_of, topic_or_all
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/quarantine"
REPAIRS_PATH = "/admin/repairs"
REQUEST_BYTES_MAX = 16 * 1024 * 1024
"""Fixes travel through the metadata store. Clients send more of them in several requests."""
_LOOK = (Need(Operation.DESCRIBE, ResourceType.TOPIC),)
_LOOK_AT_EACH = (Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="each that is listed"),)
REPAIR_TOPIC = (
    Need(Operation.WRITE, ResourceType.TOPIC, scope="to retry"),
    Need(Operation.DELETE, ResourceType.TOPIC, scope="to discard"),
)


def quarantine_routes(quarantine: Quarantine, repairs: RepairRequests) -> list[AccessRoute]:
    faces = _Faces(quarantine, repairs)
    return [
        AccessRoute(PATH, faces.look, needs=_LOOK_AT_EACH),
        AccessRoute(PATH + "/{topic}", faces.look_at, needs=_LOOK),
        AccessRoute(PATH + "/{topic}", faces.ask, needs=REPAIR_TOPIC, methods=["POST"]),
        AccessRoute(REPAIRS_PATH + "/{id}", faces.answer, needs=_LOOK),
    ]


def right_to(action: RepairAction) -> Operation:
    return Operation.DELETE if action is RepairAction.DISCARD else Operation.WRITE


class _Faces:
    def __init__(self, quarantine: Quarantine, repairs: RepairRequests) -> None:
        self._quarantine = quarantine
        self._repairs = repairs

    async def look(self, request: Request) -> Response:
        return await answered(self._counts(rights_of(request)))

    async def look_at(self, request: Request) -> Response:
        return await answered(self._of_topic(request.path_params["topic"]))

    async def ask(self, request: Request) -> Response:
        return await answered(self._asked(request.path_params["topic"], request))

    async def answer(self, request: Request) -> Response:
        return await answered(self._outcome(request.path_params["id"], rights_of(request)))

    async def _counts(self, rights: Rights) -> dict[str, Any]:
        found = await self._quarantine.counts()
        shown = [one for one in found.topics if rights.shows(Operation.DESCRIBE, (ResourceType.TOPIC, one.topic))]
        return {"pipeline": found.pipeline, "topics": [_count_json(count) for count in shown]}

    async def _of_topic(self, name: str) -> dict[str, Any]:
        return _count_json(await self._quarantine.count(name))

    async def _asked(self, name: str, request: Request) -> dict[str, Any]:
        asked = _read_request(await request.body())
        rights_of(request).must(right_to(asked.action), (ResourceType.TOPIC, name))
        return {"repair": await self._repairs.ask(name, asked)}

    async def _outcome(self, id: str, rights: Rights) -> dict[str, Any]:
        found = await self._repairs.outcome(id)
        rights.must(Operation.DESCRIBE, topic_or_all(found.topic))
        return {
            "state": found.state.name.lower(),
            "pipeline": found.pipeline.name,
            "no_pipeline": found.pipeline.ruled_out,
            **({} if found.counts is None else asdict(found.counts)),
            **({} if found.reason is None else {"reason": found.reason}),
        }


def _count_json(count: QuarantineCount) -> dict[str, Any]:
    error = {} if count.problem is None else {"error": count.problem}
    return {"topic": count.topic, "table": count.table, "records": count.records, **error}


def _read_request(body: bytes) -> RepairRequest:
    """Raises InvalidRequest."""
    if len(body) > REQUEST_BYTES_MAX:
        raise InvalidRequest(f"the request has more than {REQUEST_BYTES_MAX} bytes: send the fixes in several")
    try:
        content = json.loads(body)
        action, chosen, fixes = content["action"], content.get("chosen"), content.get("fixes", [])
        if action not in list(RepairAction) or not set(content) <= {"action", "chosen", "fixes"}:
            raise ValueError(f"'action' is one of {', '.join(RepairAction)}; 'chosen' and 'fixes' may come with it")
        return RepairRequest(
            action=RepairAction(action),
            chosen=None if chosen is None else tuple(_place(partition, offset) for partition, offset in chosen or ()),
            fixes={_place(partition, offset): _bytes(value) for partition, offset, value in fixes},
        )
    except (ValueError, TypeError, LookupError, AttributeError, binascii.Error) as error:
        raise InvalidRequest(f'send a JSON object like {{"action": "retry"}}: {error}') from None


def _place(partition: object, offset: object) -> RecordPlace:
    if not (type(partition) is int and type(offset) is int and partition >= 0 and offset >= 0):
        raise ValueError("a record is named by two numbers, its partition and its offset")
    return partition, offset


def _bytes(value: str) -> bytes:
    return base64.b64decode(value, validate=True)
