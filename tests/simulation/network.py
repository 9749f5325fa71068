"""A client's connection to one broker life: requests enter in the order sent, answers come back in that order too.

    request -> travels -> enter (in order, one by one) -> its wait, beside the others -> travels -> client

As on the wire, only the waits of produce and fetch overlap. Messages get lost when a connection breaks;
a client that waited too long breaks it itself and cannot know what became of its requests.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

from lakestream.broker.broker import Broker
from lakestream.model.errors import LakestreamError

from .life import Life

Enter = Callable[[Broker], Awaitable[Awaitable[Any]]]
"""The part of a request that runs in order; it returns what is to be waited for."""


class Disconnected(Exception):
    """The connection broke. Whether the request was carried out is unknown."""


class Connection:
    def __init__(
        self, life: Life, broker: Broker, rng: random.Random, *, delay_seconds_max: float, loss: float
    ) -> None:
        self.life = life
        self.is_open = not life.is_dead
        self._broker = broker
        self._rng = rng
        self._delay_seconds_max = delay_seconds_max
        self._loss = loss
        self._arriving: asyncio.Queue[tuple[Enter, asyncio.Future[Any]]] = asyncio.Queue()
        self._unanswered: dict[asyncio.Future[Any], None] = {}
        self._last_reply: asyncio.Future[None] | None = None
        if self.is_open:
            life.on_death.append(self.close)
            life.tasks.spawn(self._serve(), name="connection")

    async def request(self, enter: Enter, timeout_seconds: float) -> Any:
        """The answer. Raises what the broker answered as error, or Disconnected."""
        if not self.is_open:
            raise Disconnected
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._unanswered[answer] = None
        self._arriving.put_nowait((enter, answer))
        timer = asyncio.get_running_loop().call_later(timeout_seconds, self.close)
        try:
            return await answer
        finally:
            timer.cancel()
            self._unanswered.pop(answer, None)

    def close(self) -> None:
        """Break it: whoever waits is told, and answers that are still under way reach nobody."""
        self.is_open = False
        for answer in self._unanswered:
            if not answer.done():
                answer.set_exception(Disconnected())
                answer.exception()

    async def _serve(self) -> None:
        while True:
            enter, answer = await self._arriving.get()
            await self._travel()
            if not self.is_open and self._rng.random() < 0.5:
                continue  # was still in the client's buffers
            entered: Awaitable[Any] | LakestreamError
            try:
                entered = await enter(self._broker)
            except LakestreamError as error:
                entered = error
            before, self._last_reply = self._last_reply, asyncio.get_running_loop().create_future()
            finish = self._finish(entered, answer, before, self._last_reply)
            self.life.tasks.spawn(finish, name="request")

    async def _finish(
        self,
        entered: Awaitable[Any] | LakestreamError,
        answer: "asyncio.Future[Any]",
        before: "asyncio.Future[None] | None",
        replied: "asyncio.Future[None]",
    ) -> None:
        result: Any = entered
        try:
            if not isinstance(entered, LakestreamError):
                result = await entered
        except LakestreamError as error:
            result = error
        if before is not None:
            await asyncio.shield(before)
        await self._travel()
        self._reply(answer, result)
        replied.set_result(None)

    async def _travel(self) -> None:
        await asyncio.sleep(self._rng.random() * self._delay_seconds_max)
        await self.life.awake()

    def _reply(self, answer: "asyncio.Future[Any]", result: Any) -> None:
        if self._rng.random() < self._loss:
            self.close()
        if not self.is_open or answer.done():
            return
        if isinstance(result, LakestreamError):
            answer.set_exception(result)
            answer.exception()
        else:
            answer.set_result(result)
