"""Waiting for the table of a topic that has none yet: its pipeline may just be starting."""

import asyncio
from typing import Any

from lakestream.administration.pipeline import PipelineState
from lakestream.catalog.topic.topic_table import table_name
from lakestream.cli.client.gateway_client import STATUS_PATH, ask_gateway
from lakestream.cli.client.pipeline_wait import PipelineWait
from lakestream.cli.output import say
from lakestream.cli.service import Gateway
from lakestream.world.clock import SystemClock

TABLE_SECONDS_MAX = 60.0
"""A pipeline starts within half a minute on a slow machine, and then makes a table within seconds."""


def wait_for_table(gateway: Gateway, name: str) -> bool:
    """Wait until the topic whose table is to be called `name` has it, with its records. False where no topic waits for
    such a table. Raises CommandFailed where no pipeline makes it."""
    waiting = [topic for topic in ask_gateway(gateway, STATUS_PATH)["topics"] if _is_to_have(topic, name)]
    if not waiting:
        return False
    say(f"the topic {waiting[0]['name']} has no table yet; waiting for it, for up to {TABLE_SECONDS_MAX:.0f} s ...")
    asyncio.run(_wait(gateway, waiting[0]["name"]))
    return True


def _is_to_have(topic: Any, name: str) -> bool:
    return topic["table"]["table"] is None and table_name(topic["name"], ()) == name.lower()


async def _wait(gateway: Gateway, topic: str) -> None:
    ask_gateway(gateway, "/admin/compact", {"topics": [topic]})
    patience = PipelineWait(TABLE_SECONDS_MAX, SystemClock())
    while True:
        status = ask_gateway(gateway, STATUS_PATH)
        if not any(one["name"] == topic and _is_behind(one["table"]) for one in status["topics"]):
            return
        pipeline = PipelineState(name=status["pipeline"], ruled_out=status["no_pipeline"])
        await patience.go_on(pipeline, f"the topic {topic} has no table with its records yet")


def _is_behind(table: Any) -> bool:
    return table["table"] is None or table["lag_records"] > 0
