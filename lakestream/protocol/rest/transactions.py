"""/admin/transactions: list open transactions, the oldest first, and abort one.

GET  /admin/transactions?min_age_ms=60000          at most 1,000
POST /admin/transactions/{transactional id}/abort  -> how many partitions it had records in; its producer is fenced
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.transactions import OpenTransactions
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest
from lakestream.model.transaction import OpenTransaction
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/transactions"
MIN_AGE = "min_age_ms"


def transaction_routes(transactions: OpenTransactions) -> list[AccessRoute]:
    async def find(request: Request) -> Response:
        return await answered(_open(transactions, request.query_params.get(MIN_AGE, "0")))

    async def abort(request: Request) -> Response:
        return await answered(_aborted(transactions, request.path_params["id"]))

    return [
        AccessRoute(PATH, find, needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),)),
        AccessRoute(
            PATH + "/{id:path}/abort",
            abort,
            needs=(Need(Operation.ALTER, ResourceType.CLUSTER),),
            methods=["POST"],
        ),
    ]


async def _open(transactions: OpenTransactions, min_age: str) -> dict[str, Any]:
    if not min_age.isdecimal() or len(min_age) > 15:
        raise InvalidRequest(f"'{MIN_AGE}' is a number of milliseconds")
    found = await transactions.oldest_first(age_ms=int(min_age))
    return {"transactions": [transaction_json(one) for one in found]}


async def _aborted(transactions: OpenTransactions, id: str) -> dict[str, Any]:
    return {"transactional_id": id, "done": "aborted", "partitions": await transactions.abort(id)}


def transaction_json(one: OpenTransaction) -> dict[str, Any]:
    return {
        "transactional_id": one.transactional_id,
        "producer_id": one.producer_id,
        "age_ms": one.age_ms,
        "timeout_ms": one.timeout_ms,
        "topics": list(one.topics),
    }
