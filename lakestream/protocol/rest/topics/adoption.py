"""/admin/adopt: make an existing table a topic.

POST {"table": "sales.orders", "from": "beginning", "partitions": 3, "key": "sku", "config": {}, "dry_run": true}

answers {"topic", "done", "partitions", "files", "records", "bytes", "consequences": [sentences]}; with dry_run it only
says what would be.
"""

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.topics.adoptions import Adoptions, WishedAdoption
from lakestream.administration.topics.with_columns import table_named
from lakestream.catalog.names.adopting import AdoptedFrom
from lakestream.catalog.names.permits import TablePermit
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.asked import asked_object, asked_text, asked_texts, asked_whole_number
from lakestream.protocol.rest.catalog.permit import permit_of
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/adopt"
ADOPT = (
    Need(Operation.CREATE, ResourceType.TOPIC, or_else=Need(Operation.CREATE, ResourceType.CLUSTER)),
    Need(Operation.ALTER, ResourceType.TABLE),
)
_KNOWN = {"table", "from", "partitions", "key", "config", "dry_run"}


def adoption_route(adoptions: Adoptions) -> AccessRoute:
    async def adopt(request: Request) -> Response:
        return await answered(_adopted(adoptions, await request.body(), permit_of(request)))

    return AccessRoute(PATH, adopt, needs=ADOPT, methods=["POST"])


async def _adopted(adoptions: Adoptions, body: bytes, permit: TablePermit) -> dict[str, Any]:
    asked = asked_object(body, _KNOWN, like='{"table": "sales.orders", "from": "now"}')
    table, dry_run = asked_text(asked, "table"), asked.get("dry_run") is True
    if table is None:
        raise InvalidRequest("'table' is the table to adopt: namespace.table")
    namespace, name = table_named(table)
    wished = WishedAdoption(
        namespace=namespace,
        name=name,
        rows=_rows(asked_text(asked, "from")),
        partitions=asked_whole_number(asked, "partitions"),
        key=asked_text(asked, "key"),
        config={key: value for key, value in asked_texts(asked, "config").items() if value is not None},
    )
    told = await adoptions.adopt(wished, dry_run=dry_run, permit=permit)
    return {**asdict(told), "done": not dry_run}


def _rows(asked: str | None) -> AdoptedFrom:
    try:
        return AdoptedFrom(asked or AdoptedFrom.NOW)
    except ValueError:
        raise InvalidRequest(f"'from' is {' or '.join(AdoptedFrom)}: which rows become records") from None
