"""Endpoints of the catalog: handle requests, answer errors in the specification's form, recognise repeats.

A request with an Idempotency-Key leaves a receipt in the transaction that carries it out. A repeat, however late and
through whichever gateway, gets the answer in the receipt. Failed requests leave none, so repeating them tries again.
A receipt is its caller's: the same request by another principal is another request.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from types import MappingProxyType

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.catalog.files.metadata_file import MetadataFile, MetadataFiles
from lakestream.catalog.spec.requests import Once
from lakestream.catalog.spec.values import Json
from lakestream.metadata.table_store import TableStore
from lakestream.model.access import Needs
from lakestream.model.errors import LakestreamError
from lakestream.model.table import RequestReceipt
from lakestream.model.table_errors import AnsweredBefore, DamagedTable
from lakestream.protocol.rest.access.rights import rights_of
from lakestream.protocol.rest.catalog.asking import once_of
from lakestream.protocol.rest.catalog.errors import Unprocessable, error_response
from lakestream.protocol.rest.routing import AccessRoute

Handler = Callable[[Request], Awaitable[Response]]
ChangeHandler = Callable[[Request, Once | None], Awaitable[Response]]

IDEMPOTENCY_KEY_LIFETIME = "PT30M"
NO_CONTENT = 204


class Answers(Enum):
    """The kind of an endpoint's answer after it has carried out a change."""

    METADATA = "metadata"
    BODY = "body"
    NOTHING = "nothing"


class Endpoints:
    """Makes routes that handle errors and repeats."""

    def __init__(self, *, store: TableStore, files: MetadataFiles) -> None:
        self._store = store
        self._files = files

    def reading(self, path: str, handler: Handler, needs: Needs, *, method: str = "GET") -> AccessRoute:
        async def answer(request: Request) -> Response:
            try:
                return await handler(request)
            except Exception as error:  # noqa: BLE001 (every failure gets the specification's answer)
                return error_response(error)

        return AccessRoute(path, answer, needs=needs, methods=[method])

    def changing(
        self, path: str, handler: ChangeHandler, answers: Answers, needs: Needs, *, method: str = "POST"
    ) -> AccessRoute:
        async def answer(request: Request) -> Response:
            try:
                once = await once_of(request)
                if once is not None and (receipt := await self._store.receipt(once.key)) is not None:
                    rights_of(request).were_asked_before()
                    return await self._answer_again(receipt, once, answers)
                return await self._carry_out(request, handler, once, answers)
            except Exception as error:  # noqa: BLE001 (every failure gets the specification's answer)
                return error_response(error)

        return AccessRoute(path, answer, needs=needs, methods=[method])

    async def _carry_out(
        self, request: Request, handler: ChangeHandler, once: Once | None, answers: Answers
    ) -> Response:
        try:
            return await handler(request, once)
        except LakestreamError as error:
            if once is None or (receipt := await self._receipt_after(error, once)) is None:
                raise
            rights_of(request).were_asked_before()
            return await self._answer_again(receipt, once, answers)

    async def _receipt_after(self, error: LakestreamError, once: Once) -> RequestReceipt | None:
        """The receipt of the request's first sending, if that was carried out since this one checked: then it caused
        this failure. Reporting the failure would make the client change the table a second time."""
        return error.receipt if isinstance(error, AnsweredBefore) else await self._store.receipt(once.key)

    async def _answer_again(self, receipt: RequestReceipt, once: Once, answers: Answers) -> Response:
        if receipt.request != once.request:
            raise Unprocessable(f"the Idempotency-Key {once.key} was used for another request: choose a new one")
        kept = json.loads(receipt.answer)
        match answers:
            case Answers.METADATA:
                return loaded_response(await self._metadata(kept))
            case Answers.BODY:
                return JSONResponse(kept["body"])
            case Answers.NOTHING:
                return Response(status_code=NO_CONTENT)

    async def _metadata(self, kept: Json) -> MetadataFile:
        """The metadata that the request made. Tables with frequent commits soon delete that file; then the current
        metadata, which includes the change."""
        try:
            return await self._files.read(kept["metadata-locations"][0])
        except DamagedTable:
            name = kept.get("name")
            pointer = await self._store.table(tuple(name[:-1]), name[-1]) if name else None
            if pointer is None:
                raise
            return await self._files.read(pointer.metadata_location)


def loaded_response(
    file: MetadataFile, *, tag: str | None = None, config: Mapping[str, str] = MappingProxyType({})
) -> Response:
    """A table or view with the metadata of the file. `tag` defaults to the tag of a complete answer."""
    location, told = json.dumps(file.location).encode(), json.dumps(dict(config)).encode()
    content = b"".join((b'{"metadata-location":', location, b',"metadata":', file.json, b',"config":', told, b"}"))
    return Response(content, media_type="application/json", headers={"ETag": tag or entity_tag(file.location)})


def entity_tag(*made_from: object) -> str:
    """A hash of everything that an answer is made from, the metadata file above all."""
    return f'"{hashlib.sha256(repr(made_from).encode()).hexdigest()[:32]}"'


def is_known(request: Request, tag: str) -> bool:
    """Whether the client already has this answer. Compressing proxies mark tags as weak; such tags still match."""
    known = [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]
    return tag in known or "*" in known
