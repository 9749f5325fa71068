"""/admin/quarantine: how many values are set aside (GET), and please do something with them (POST).

GET  /admin/quarantine         of every topic of which any ever were
GET  /admin/quarantine/orders  of one topic
POST /admin/quarantine/orders {"action": "retry" | "discard",
                               "chosen": [[partition, offset], ...],               without: all of them
                               "fixes": [[partition, offset, value in base64], ...]}  other bytes for the table
  -> {"repair": id}; the pipeline does it, and  GET /admin/repairs/{id}  says what became of it
"""

import base64
import binascii
import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.spec.values import Metadata, by_id
from lakestream.metadata.store import MetadataStore
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest, LakestreamError, NotFound, UnknownTopic
from lakestream.model.repair import Repair, RepairState, TooManyRepairs
from lakestream.model.table import QUARANTINE_BRANCH
from lakestream.model.topic import Topic
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.world.ids import Ids
from lakestream.world.objects.store import ObjectStore

PATH = "/admin/quarantine"
REPAIRS_PATH = "/admin/repairs"
REQUEST_BYTES_MAX = 16 * 1024 * 1024
"""Fixes travel through the metadata store. More of them than this are asked for in several requests."""
_ACTIONS = ("retry", "discard")
_LOOK = (Need(Operation.DESCRIBE, ResourceType.TOPIC),)
_REPAIR = (
    Need(Operation.WRITE, ResourceType.TOPIC, scope="to retry"),
    Need(Operation.DELETE, ResourceType.TOPIC, scope="to discard"),
)


def quarantine_routes(store: MetadataStore, objects: ObjectStore, ids: Ids) -> list[AccessRoute]:
    faces = _Faces(store, MetadataFiles(TableObjects(objects), ids=ids), ids)
    return [
        AccessRoute(PATH, faces.look, needs=_LOOK),
        AccessRoute(PATH + "/{topic}", faces.look_at, needs=_LOOK),
        AccessRoute(PATH + "/{topic}", faces.ask, needs=_REPAIR, methods=["POST"]),
        AccessRoute(REPAIRS_PATH + "/{id}", faces.answer, needs=_LOOK),
    ]


class _Faces:
    def __init__(self, store: MetadataStore, files: MetadataFiles, ids: Ids) -> None:
        self._store = store
        self._files = files
        self._ids = ids

    async def look(self, request: Request) -> Response:
        return await _answered(self._counts())

    async def look_at(self, request: Request) -> Response:
        return await _answered(self._of_topic(request.path_params["topic"]))

    async def ask(self, request: Request) -> Response:
        return await _answered(self._asked(request.path_params["topic"], request))

    async def answer(self, request: Request) -> Response:
        return await _answered(self._found(request.path_params["id"]))

    async def _counts(self) -> dict[str, Any]:
        topics = (await self._store.topics()).topics
        found = [await self._count(topic) for topic in topics]
        return {"pipeline": await self._store.jobs.compaction_holder(), "topics": [one for one in found if one]}

    async def _count(self, topic: Topic) -> dict[str, Any] | None:
        """None where nothing was ever set aside."""
        pointer = await self._store.tables.table_of_topic(topic.id)
        if pointer is None:
            return None
        named = {"topic": topic.name, "table": ".".join((*pointer.namespace, pointer.name))}
        try:
            count = quarantined_records((await self._files.read(pointer.metadata_location)).metadata)
        except LakestreamError as error:
            return named | {"records": 0, "error": str(error)}  # one damaged table hides none of the others
        return None if count is None else named | {"records": count}

    async def _of_topic(self, name: str) -> dict[str, Any]:
        return await self._count(await self._topic(name)) or {"topic": name, "table": None, "records": 0}

    async def _topic(self, name: str) -> Topic:
        found = next((one for one in (await self._store.topics()).topics if one.name == name), None)
        if found is None:
            raise UnknownTopic(f"no topic is called '{name}': `lakestream topic list` shows those that exist")
        return found

    async def _asked(self, name: str, request: Request) -> dict[str, Any]:
        topic = await self._topic(name)
        body = await request.body()
        if len(body) > REQUEST_BYTES_MAX:
            raise InvalidRequest(f"the request has more than {REQUEST_BYTES_MAX} bytes: send the fixes in several")
        repair = Repair(id=self._ids.ulid(), topic=topic.id, request=json.dumps(_checked(body)))
        await self._store.repairs.ask(repair)
        return {"repair": repair.id}

    async def _found(self, id: str) -> dict[str, Any]:
        repair = await self._store.repairs.look(id)
        if repair is None:
            raise NoRepair(f"there is no repair {id:.64}: it may have been forgotten, an hour after it was done")
        answer = repair.answer or ""
        return {
            "state": repair.state.name.lower(),
            "pipeline": await self._store.jobs.compaction_holder(),
            **(json.loads(answer) if repair.state is RepairState.DONE else {}),
            **({"reason": answer} if repair.state is RepairState.FAILED else {}),
        }


class NoRepair(NotFound):
    """Nobody asked for it, or its answer was forgotten."""


def quarantined_records(metadata: Metadata) -> int | None:
    """How many the branch holds; None where there is none."""
    head = (metadata["refs"].get(QUARANTINE_BRANCH) or {}).get("snapshot-id")
    if head is None:
        return None
    snapshot = by_id(metadata["snapshots"], "snapshot-id", head) or {"summary": {}}
    return int(snapshot["summary"].get("total-records", 0))


def _checked(body: bytes) -> dict[str, Any]:
    """What may go to the pipeline. Raises InvalidRequest."""
    try:
        content = json.loads(body)
        action, chosen, fixes = content["action"], content.get("chosen"), content.get("fixes", [])
        if action not in _ACTIONS or not set(content) <= {"action", "chosen", "fixes"}:
            raise ValueError(f"'action' is one of {', '.join(_ACTIONS)}; 'chosen' and 'fixes' may come with it")
        for partition, offset in chosen or ():
            _check_place(partition, offset)
        for partition, offset, value in fixes:
            _check_place(partition, offset)
            base64.b64decode(value, validate=True)
    except (ValueError, TypeError, LookupError, AttributeError, binascii.Error) as error:
        raise InvalidRequest(f'send a JSON object like {{"action": "retry"}}: {error}') from None
    return {"action": action, "fixes": fixes} | ({} if chosen is None else {"chosen": chosen})


def _check_place(partition: object, offset: object) -> None:
    if not (type(partition) is int and type(offset) is int and partition >= 0 and offset >= 0):
        raise ValueError("a record is named by two numbers, its partition and its offset")


async def _answered(working: Any) -> Response:
    try:
        return JSONResponse(await working)
    except (InvalidRequest, NotFound, TooManyRepairs) as error:
        status = 404 if isinstance(error, NotFound) else 400 if isinstance(error, InvalidRequest) else 429
        return JSONResponse({"error": str(error)}, status_code=status)
    except LakestreamError as error:
        return JSONResponse({"error": str(error)}, status_code=503)
