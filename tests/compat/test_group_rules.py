"""Groups answer every request, right and wrong, in every state, as Apache Kafka does: its answers are kept as lines.

With LAKESTREAM_SOAK the lines themselves are held against a running Apache Kafka.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.peers import kafka, lakestream

from .group_rules.differences import DIFFERENCES, as_expected
from .group_rules.rules import Rules, kept, make_ready, rules_of
from .group_rules.situations import SITUATIONS

AT_ONCE = "group.initial.rebalance.delay.ms=0\ngroup.consumer.min.assignment.interval.ms=0\n"
AT_ONCE += "group.consumer.assignment.interval.ms=0\n"
"""Kafka waits a little for more members to come. What it then answers is the same, but later."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    flags = ("--set", "group.initial_rebalance_delay_ms=0")
    with lakestream.running(tmp_path_factory.mktemp("rules"), *flags) as server:
        yield server.bootstrap


def unlike(found: Rules, expected: Rules) -> list[str]:
    return [
        f"{asked}: {found[asked]}, not {answer}" for asked, answer in expected.items() if found.get(asked) != answer
    ]


def test_groups_answer_as_apache_kafka_does(address: str) -> None:
    make_ready(address)
    expected, used = as_expected(kept(list(SITUATIONS)))
    found = rules_of(address, list(SITUATIONS))
    assert found.keys() == expected.keys(), "kafka.txt has other requests: make it anew"
    assert "\n".join(unlike(found, expected)) == ""
    assert used == set(DIFFERENCES), "a difference that is none"


@pytest.mark.skipif(not os.environ.get("LAKESTREAM_SOAK"), reason="starts Apache Kafka: make soak")
def test_apache_kafka_answers_as_it_is_kept(tmp_path: Path) -> None:
    try:
        with kafka.running(tmp_path, more_properties=AT_ONCE) as server:
            make_ready(server.bootstrap)
            found = rules_of(server.bootstrap, list(SITUATIONS))
    except kafka.Unavailable as missing:
        pytest.skip(str(missing))
    assert "\n".join(unlike(found, kept(list(SITUATIONS)))) == ""
