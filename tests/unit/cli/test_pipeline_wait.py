"""Waiting for the pipeline: whoever waits for one that does not run is told so, soon, and not kept for ever."""

import asyncio
from collections.abc import Callable

import pytest

from lakestream.administration.pipeline import PipelineState
from lakestream.cli.client.pipeline_wait import PipelineWait
from lakestream.cli.failures import CommandFailed

NOTICE = "no pipeline is running; waiting for one"


class QuickClock:
    """Time passes by sleeping alone."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wall_ms(self) -> int:
        return int(self.seconds * 1000)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


def wait(
    pipeline: Callable[[float], str | None], *, patience: float, until: float = 10_000.0, ruled_out: str | None = None
) -> float:
    """Look again and again while `pipeline` says which one runs at a time. Returns when that ended."""

    async def looking() -> None:
        waiting = PipelineWait(patience, clock)
        while clock.seconds < until:
            await waiting.go_on(PipelineState(name=pipeline(clock.seconds), ruled_out=ruled_out), "3 records are left")

    clock = QuickClock()
    asyncio.run(looking())
    return clock.seconds


def test_who_waits_for_no_pipeline_is_told_after_two_seconds_and_once(capsys: pytest.CaptureFixture[str]) -> None:
    wait(lambda now: None, patience=600, until=1.9)
    assert capsys.readouterr().err == ""
    wait(lambda now: None, patience=600, until=30)
    assert capsys.readouterr().err.count(NOTICE) == 1


@pytest.mark.parametrize("patience", [600, 1])
def test_a_pipeline_that_never_comes_is_given_up_with_what_it_needs(patience: float) -> None:
    with pytest.raises(CommandFailed, match=r"`lakestream pipeline`.* Java 17"):
        wait(lambda now: None, patience=patience, until=62)


def test_a_pipeline_that_cannot_come_is_not_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandFailed, match=r"^no Java was found\. The pipeline then does"):
        wait(lambda now: None, patience=600, until=0.1, ruled_out="no Java was found")
    assert capsys.readouterr().err == ""


def test_a_pipeline_that_is_started_again_is_waited_for_from_then_on(capsys: pytest.CaptureFixture[str]) -> None:
    wait(lambda now: None if 100 < now < 150 else "p", patience=600, until=200)
    assert capsys.readouterr().err.count(NOTICE) == 1


def test_patience_with_one_that_works_ends_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandFailed, match="3 records are left after 90 s; the work goes on"):
        wait(lambda now: "p", patience=90)
    assert capsys.readouterr().err == ""
