"""Hostile frames of every API and version harm nobody: 50,000 of them, in five rounds. Planted bugs are found."""

import pytest

from lakestream.broker.groups.administration import GroupAdministration
from lakestream.protocol.kafka.inflight import InflightBytes

from . import round as fuzz_round
from .round import run_round
from .run import FRAMES_PER_ROUND, WELL_FORMED_SHARE

FRAMES_TO_FIND_A_BUG = 2_000


@pytest.mark.parametrize("seed", range(5))
def test_hostile_frames_harm_nobody(seed: int) -> None:
    outcome = run_round(seed, FRAMES_PER_ROUND, well_formed_share=WELL_FORMED_SHARE)
    print(f"make fuzz SEED={seed}:", outcome)
    assert outcome.faults == []
    assert outcome.frames == FRAMES_PER_ROUND


def test_a_handler_that_fails_in_an_unforeseen_way_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> None:
        raise KeyError("planted")

    monkeypatch.setattr(GroupAdministration, "fetch", break_down)
    outcome = run_round(0, FRAMES_TO_FIND_A_BUG, well_formed_share=WELL_FORMED_SHARE)
    assert any("planted" in fault for fault in outcome.faults)


def test_bytes_that_are_never_given_back_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    release = InflightBytes.release
    monkeypatch.setattr(InflightBytes, "release", lambda self, count: release(self, count - (count > 5_000)))
    monkeypatch.setattr(fuzz_round, "CHECKS_MAX", 100)
    outcome = run_round(0, FRAMES_TO_FIND_A_BUG, well_formed_share=WELL_FORMED_SHARE)
    assert any("bytes are left" in fault for fault in outcome.faults)
