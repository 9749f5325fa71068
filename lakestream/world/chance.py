"""Randomness that is passed in: seeded in a simulation, the machine's own otherwise."""

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Chance(Protocol):
    def uniform(self, low: float, high: float) -> float: ...

    def pick(self, options: Sequence[T]) -> T: ...

    def bytes(self, length: int) -> bytes: ...


class SeededChance:
    """The same seed gives the same choices."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def uniform(self, low: float, high: float) -> float:
        return self._random.uniform(low, high)

    def pick(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def bytes(self, length: int) -> bytes:
        return self._random.randbytes(length)


class SystemChance:
    """The machine's entropy."""

    def __init__(self) -> None:
        self._random = random.SystemRandom()

    def uniform(self, low: float, high: float) -> float:
        return self._random.uniform(low, high)

    def pick(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def bytes(self, length: int) -> bytes:
        return self._random.randbytes(length)
