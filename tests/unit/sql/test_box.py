"""The SQL box ends what takes too long, and says what went wrong."""

import asyncio

import pytest

from lakestream.administration.sql.box import QueryLake, QueryTooLong, RefusedQuery, SqlBox
from tests.ports import free_address


def nowhere() -> QueryLake:
    return QueryLake(uri=f"http://{free_address()}/iceberg", folders=["/nowhere"])


def test_a_query_that_takes_too_long_is_ended() -> None:
    with pytest.raises(QueryTooLong, match="within 0 seconds"):
        asyncio.run(SqlBox(nowhere, seconds_max=0.01).ask("SELECT 1"))


def test_a_query_that_cannot_be_run_says_why() -> None:
    async def scenario() -> None:
        box = SqlBox(nowhere)
        with pytest.raises(RefusedQuery, match="not DROP"):
            await box.ask("DROP TABLE orders")
        with pytest.raises(RefusedQuery, match="more than 20,000 characters"):
            await box.ask("x" * 20_001)

    asyncio.run(scenario())
