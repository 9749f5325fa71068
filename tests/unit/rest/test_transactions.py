"""Open transactions are listed, named when they are stuck, and aborted."""

import asyncio
from typing import Any

import httpx
from starlette.applications import Starlette

from lakestream.administration.transactions import STUCK_MS, OpenTransactions
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.transaction import OpenTransaction, ProducerAsk, ProducerIdentity, TransactionalProducer
from lakestream.protocol.rest.collectors.open_transactions import open_transactions_page
from lakestream.protocol.rest.transactions import PATH, transaction_routes
from lakestream.world.chance import SystemChance
from lakestream.world.ids import Ids
from tests.behaviour.metadata.stage import ShiftedClock

ID = "billing/1 é"


async def begin(store: MetadataStore, id: str) -> ProducerIdentity:
    (spare,) = await store.take_producer_ids(1)
    ask = ProducerAsk(transactional_id=id, timeout_ms=900_000, known=None, spare_producer_id=spare)
    identity = (await store.transactions.begin_producer(ask)).identity
    await store.transactions.begin(TransactionalProducer(id, *identity))
    return identity


def test_open_transactions_are_listed_and_aborted() -> None:
    async def scenario() -> None:
        clock = ShiftedClock()
        store = await open_store("sqlite:///:memory:", clock=clock, ids=Ids(clock, SystemChance()))
        transactions = OpenTransactions(store)
        app = httpx.ASGITransport(Starlette(routes=transaction_routes(transactions)))
        async with httpx.AsyncClient(transport=app, base_url="http://gateway") as client:

            async def listed(**asked: Any) -> list[str]:
                found = (await client.get(PATH, params=asked)).json()["transactions"]
                return [one["transactional_id"] for one in found]

            await begin(store, ID)
            clock.ahead_ms += STUCK_MS
            young = await begin(store, "young")
            assert await listed() == [ID, "young"]
            assert await listed(min_age_ms=STUCK_MS) == [ID]
            assert [one.transactional_id for one in await transactions.stuck()] == [ID]
            path = f"{PATH}/billing%2F1%20%C3%A9/abort"
            assert (await client.post(path)).json() == {"transactional_id": ID, "done": "aborted", "partitions": 0}
            assert await listed() == ["young"]
            again = await client.post(path)
            assert again.status_code == 400
            assert "lakestream transaction list" in again.json()["error"]
            assert (await client.get(PATH, params={"min_age_ms": "-1"})).status_code == 400
            await store.transactions.begin(TransactionalProducer("young", *young))
        await store.close()

    asyncio.run(scenario())


def test_metrics_tell_how_long_the_oldest_is_open() -> None:
    page = open_transactions_page(
        [OpenTransaction("a", 1, STUCK_MS, 900_000, ()), OpenTransaction("b", 2, 500, 900_000, ())]
    ).decode()
    for line in ("open_transactions 2.0", "stuck_transactions 1.0", "oldest_transaction_seconds 60.0"):
        assert f"lakestream_{line}" in page
    assert "lakestream_oldest_transaction_seconds 0.0" in open_transactions_page([]).decode()
