"""A LocalLakestream in a thread of its own, so that blocking clients can be driven from the test."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from lakestream.testing.local import LocalLakestream

T = TypeVar("T")
START_SECONDS_MAX = 30
CALL_SECONDS_MAX = 60


class Running:
    """`run` runs a coroutine beside the brokers."""

    def __init__(self, local: LocalLakestream, loop: asyncio.AbstractEventLoop) -> None:
        self.local = local
        self._loop = loop
        self.bootstrap = local.bootstrap
        self.addresses = local.addresses

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(CALL_SECONDS_MAX)


@contextmanager
def running(local: LocalLakestream) -> Iterator[Running]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="lakestream", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(local.__aenter__(), loop).result(START_SECONDS_MAX)
        try:
            yield Running(local, loop)
        finally:
            asyncio.run_coroutine_threadsafe(local.__aexit__(None, None, None), loop).result(START_SECONDS_MAX)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(START_SECONDS_MAX)
        loop.close()
