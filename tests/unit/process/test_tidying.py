"""The garbage collector comes when nobody waits."""

import asyncio
import gc
import weakref

import pytest

from lakestream.process import life as life_module
from lakestream.process.life import Life


class Ring:
    def __init__(self) -> None:
        self.itself = self


def tidied(life: Life) -> list[int]:
    """The generations that one tidying looks at."""
    seen: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    gc.callbacks.append(note)
    try:
        life.tidy()
    finally:
        gc.callbacks.remove(note)
    return seen


def test_what_is_new_and_refers_to_itself_is_gone_afterwards() -> None:
    async def body() -> None:
        life, ring = Life(supervised=False), Ring()
        gone = weakref.ref(ring)
        del ring
        life.tidy()
        assert gone() is None

    asyncio.run(body())


def test_everything_is_looked_at_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(life_module, "_GC_TIDIED_MAX", 3)

    async def body() -> None:
        life = Life(supervised=False)
        gc.collect()
        assert [tidied(life) for _ in range(5)] == [[1], [1], [1], [2], [1]]

    asyncio.run(body())
