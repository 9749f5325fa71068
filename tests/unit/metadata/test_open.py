"""Which metadata store a URL means, and what is said of one that means none."""

import asyncio

import pytest

from lakestream.metadata.open import open_store
from lakestream.model.errors import InvalidSetting
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids


@pytest.mark.parametrize(
    ("url", "shown"), [("mysql://me:hunter2@db/ls", "'mysql://'"), ("metadata.db", "'metadata.db'")]
)
def test_another_store_is_refused_with_advice_and_without_its_password(url: str, shown: str) -> None:
    clock = SystemClock()
    with pytest.raises(InvalidSetting, match="write sqlite:///") as refused:
        asyncio.run(open_store(url, clock=clock, ids=Ids(clock, SystemChance())))
    assert shown in str(refused.value)
    assert "hunter2" not in str(refused.value)
