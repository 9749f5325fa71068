"""Turns: splits long requests, so that other requests are served in between.

One thread serves all connections and renews the broker's lease. Code that works through a long list without waiting
holds up everyone, and a broker that is held up for long enough is taken for dead.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

ELEMENTS_PER_TURN = 64
"""Elements of a request that are handled without a break: a millisecond or two. Nearly every request needs one turn."""


async def in_turns(elements: Iterable[T], per_turn: int = ELEMENTS_PER_TURN) -> AsyncIterator[T]:
    """The elements. Others get their turn after every `per_turn` of them."""
    for count, element in enumerate(elements, 1):
        yield element
        if count % per_turn == 0:
            await asyncio.sleep(0)


def slices(elements: Sequence[T], length: int) -> Iterator[Sequence[T]]:
    """The elements in slices of this length. No elements are one empty slice."""
    return (elements[first : first + length] for first in range(0, max(len(elements), 1), length))
