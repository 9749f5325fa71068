"""Turns: a request that asks for much lets others have theirs.

One thread serves all connections and renews the broker's lease. Whoever works through a long list there without ever
having to wait holds up everyone, and a broker that is held up for long enough is taken for dead.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

ELEMENTS_PER_TURN = 64
"""Of a request, worked through at a stretch: a millisecond or two. Nearly every request is done within the first."""


async def in_turns(elements: Iterable[T], per_turn: int = ELEMENTS_PER_TURN) -> AsyncIterator[T]:
    """The elements, with everyone else's turn after every few of them."""
    for count, element in enumerate(elements, 1):
        yield element
        if count % per_turn == 0:
            await asyncio.sleep(0)


def slices(elements: Sequence[T], length: int) -> Iterator[Sequence[T]]:
    """The elements, so many at a time. None are one empty slice."""
    return (elements[first : first + length] for first in range(0, max(len(elements), 1), length))
