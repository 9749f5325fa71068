"""One endpoint: its request handled, its errors answered as the specification wants, its repeats recognised.

A request with an Idempotency-Key leaves a receipt in the transaction that carries it out. Its repeat, however late and
through whichever gateway, gets the answer that the receipt remembers. Requests that failed leave none: repeating them
is trying again.
"""

import json
from collections.abc import Awaitable, Callable
from enum import Enum

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lakestream.catalog.metadata_file import MetadataFile, MetadataFiles
from lakestream.catalog.requests import Once
from lakestream.metadata.table_store import TableStore
from lakestream.model.table import Receipt
from lakestream.model.table_errors import AnsweredBefore
from lakestream.protocol.rest.catalog.asking import once_of
from lakestream.protocol.rest.catalog.errors import Unprocessable, error_response

Handler = Callable[[Request], Awaitable[Response]]
ChangeHandler = Callable[[Request, Once | None], Awaitable[Response]]

IDEMPOTENCY_KEY_LIFETIME = "PT30M"
NO_CONTENT = 204


class Answers(Enum):
    """What an endpoint answers with when it has carried out a change."""

    METADATA = "metadata"
    BODY = "body"
    NOTHING = "nothing"


class Endpoints:
    """Makes routes whose errors and repeats are taken care of."""

    def __init__(self, *, store: TableStore, files: MetadataFiles) -> None:
        self._store = store
        self._files = files

    def reading(self, path: str, handler: Handler, *, method: str = "GET") -> Route:
        async def answer(request: Request) -> Response:
            try:
                return await handler(request)
            except Exception as error:  # noqa: BLE001 (every failure gets the specification's answer)
                return error_response(error)

        return Route(path, answer, methods=[method])

    def changing(self, path: str, handler: ChangeHandler, answers: Answers, *, method: str = "POST") -> Route:
        async def answer(request: Request) -> Response:
            try:
                once = await once_of(request)
                if once is not None and (receipt := await self._store.receipt(once.key)) is not None:
                    return await self._answer_again(receipt, once, answers)
                return await self._carry_out(request, handler, once, answers)
            except Exception as error:  # noqa: BLE001 (every failure gets the specification's answer)
                return error_response(error)

        return Route(path, answer, methods=[method])

    async def _carry_out(
        self, request: Request, handler: ChangeHandler, once: Once | None, answers: Answers
    ) -> Response:
        try:
            return await handler(request, once)
        except AnsweredBefore as before:
            if once is None:
                raise
            return await self._answer_again(before.receipt, once, answers)

    async def _answer_again(self, receipt: Receipt, once: Once, answers: Answers) -> Response:
        if receipt.request != once.request:
            raise Unprocessable(f"the Idempotency-Key {once.key} was used for another request: choose a new one")
        kept = json.loads(receipt.answer)
        match answers:
            case Answers.METADATA:
                return loaded_response(await self._files.read(kept["metadata-locations"][0]))
            case Answers.BODY:
                return JSONResponse(kept["body"])
            case Answers.NOTHING:
                return Response(status_code=NO_CONTENT)


def loaded_response(file: MetadataFile, headers: dict[str, str] | None = None) -> Response:
    """Table or view, its metadata as it stands in the file."""
    location = json.dumps(file.location).encode()
    content = b'{"metadata-location":' + location + b',"metadata":' + file.json + b',"config":{}}'
    return Response(content, media_type="application/json", headers=headers)
