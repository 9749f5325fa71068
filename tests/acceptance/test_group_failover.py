"""A group's coordinator is killed: its members go on at the other broker, and no committed offset is lost.

All is set as it comes: members have 45 s, and the lease of a dead broker runs for 5.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.up_process import Up

from .broker_process import broker_pids
from .group_readers import SESSION_MS, outlive

SETTINGS = {"group.initial_rebalance_delay_ms": 0, "group.consumer_session_timeout_ms": SESSION_MS}


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    flags = [flag for name, value in SETTINGS.items() for flag in ("--set", f"{name}={value}")]
    with Up(tmp_path / "data", "--brokers", "2", *flags) as running:
        yield running
        assert running.stop() == 0
        assert "Traceback" not in running.said()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_outlive_their_coordinator(up: Up, protocol: str) -> None:
    def kill(coordinator: int) -> None:
        os.kill(broker_pids(up)[coordinator], signal.SIGKILL)

    seconds = outlive(up.kafka, protocol, kill, ask=lambda: up.kafka.split(",")[0])
    print(f"{protocol}: commits are answered again {seconds:.1f} s after the kill")
