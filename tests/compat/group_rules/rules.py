"""Ask everything of a broker; write and read the lines that hold what it said."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lakestream.protocol.kafka.wire import messages
from tests.integration.kafka.wire_client import WireClient

from .asks import asks
from .situations import CLIENT_ID, SITUATIONS, TOPIC, Broker

PATIENCE_SECONDS = 60
GROUPS_TRIED = 400
"""Enough to meet each of the 50 partitions by which Apache Kafka divides groups."""
UNKNOWN_MEMBER_ID = 25
KAFKA_SAYS = Path(__file__).with_name("kafka.txt")

Rules = dict[str, str]
"""By situation and request: what was answered."""


def rules_of(address: str, situations: Sequence[str]) -> Rules:
    """What this broker answers in these situations, which are tried side by side: most of the time is waited."""
    rules: Rules = {}
    with ThreadPoolExecutor(len(situations)) as tried:
        for found in tried.map(lambda name: _asked(address, name), situations):
            rules |= found
    return rules


def written(rules: Rules) -> str:
    return "".join(f"{asked} -> {answer}\n" for asked, answer in rules.items())


def kept(situations: Sequence[str]) -> Rules:
    lines = (line.split(" -> ") for line in KAFKA_SAYS.read_text().splitlines())
    return {asked: answer for asked, answer in lines if asked.split(":")[0] in situations}


def make_ready(address: str) -> None:
    """The topic is there, and whoever coordinates groups does: Apache Kafka begins with it when first asked."""
    with WireClient(address, client_id=CLIENT_ID) as client:
        client.create_topic(TOPIC)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not all(_is_coordinated(client, f"ready-{number}") for number in range(GROUPS_TRIED)):
            assert time.monotonic() < deadline, f"groups are not coordinated after {PATIENCE_SECONDS} s"
            time.sleep(0.2)


def _is_coordinated(client: WireClient, group: str) -> bool:
    asked = messages.api(10).Request(key_type=0, coordinator_keys=[group])
    [found] = client.call(10, 4, asked).coordinators
    body = messages.api(12).Request(group_id=group, generation_id=1, member_id="nobody")
    return found.error_code.value == 0 and client.call(12, 4, body).error_code.value == UNKNOWN_MEMBER_ID


def _asked(address: str, situation: str) -> Rules:
    broker, rules = Broker(address), {}
    for ask in asks():
        here = SITUATIONS[situation](broker.fresh())
        with here.ends:
            rules[f"{situation}: {ask.words}"] = ask.send(here)
    return rules
