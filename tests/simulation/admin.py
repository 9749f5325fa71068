"""An administrator: deletes records, deletes topics and makes them anew, adds partitions, changes configs.

It asks any broker and does not mind refusals: with a store that loses answers, an administrator tries again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from lakestream.broker.broker import Broker
from lakestream.broker.topics import HIGH_WATERMARK, NewTopic
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.profile import PROFILE, Profile
from lakestream.model.errors import LakestreamError, TopicExists, UnknownTopic

from .network import Disconnected
from .site import Site
from .trace import Trace

REQUEST_SECONDS_MAX = 10.0
PARTITIONS_MAX = 24
Verb = Callable[[Broker], Awaitable[Any]]


class Administrator:
    def __init__(
        self,
        topics: Mapping[str, Mapping[str, str]],
        partitions: int,
        *,
        site: Site,
        store: MetadataStore,
        retained: set[str],
        trace: Trace,
        rng: random.Random,
    ) -> None:
        self._topics = topics
        self._partitions = partitions
        self._site = site
        self._store = store
        self._retained = retained
        self._trace = trace
        self._rng = rng

    async def create_all(self) -> None:
        for name in self._topics:
            await self._create(name)

    async def delete_all(self) -> None:
        for name in self._topics:
            await self._delete(name)

    async def run(self, seconds: float) -> None:
        acts = [self._delete_records] * 4 + [
            self._recreate,
            self._add_partition,
            self._set_retention,
            self._set_profile,
        ]
        while True:
            await asyncio.sleep(self._rng.expovariate(1 / seconds))
            with suppress(LakestreamError, Disconnected):
                await self._rng.choice(acts)(self._rng.choice(sorted(self._topics)))

    # --- acts ------------------------------------------------------------------------------------

    async def _create(self, name: str) -> None:
        async def create(broker: Broker) -> None:
            await broker.topics.create(NewTopic(name=name, partitions=self._partitions, config=self._topics[name]))

        await self._insist("create", name, create, done=TopicExists)

    async def _delete(self, name: str) -> None:
        async def delete(broker: Broker) -> None:
            await broker.directory.refresh()
            await broker.topics.delete(await broker.directory.find(name))

        await self._insist("delete", name, delete, done=UnknownTopic)

    async def _recreate(self, name: str) -> None:
        if self._rng.random() < 0.5:
            await self._delete(name)
            await asyncio.sleep(self._rng.choice([0, 0.5]))
            await self._create(name)

    async def _delete_records(self, name: str) -> None:
        topic = next((topic for topic in (await self._store.topics()).topics if topic.name == name), None)
        if topic is None:
            return
        index = self._rng.randrange(len(topic.partitions))
        size = (await self._store.tails([topic.partitions[index]]))[topic.partitions[index]]
        low, high = size.tail.log_start, size.tail.next_offset
        before = self._rng.choice([low, (low + high) // 2, self._rng.randint(low, high), high, HIGH_WATERMARK])

        async def delete_records(broker: Broker) -> int:
            return await broker.topics.delete_records(await broker.directory.find(name), index, before)

        await self._ask("delete records", f"{name}/{index} {before}", delete_records)

    async def _add_partition(self, name: str) -> None:
        async def add(broker: Broker) -> None:
            entry = await broker.directory.find(name)
            count = len(entry.topic.partitions)
            if count < PARTITIONS_MAX:
                await broker.topics.add_partitions(entry, count + 1)

        await self._ask("add partition", name, add)

    async def _set_retention(self, name: str) -> None:
        edit = self._rng.choice(
            [
                ConfigEdit(ConfigOperation.SET, "retention.ms", "5000"),
                ConfigEdit(ConfigOperation.SET, "retention.bytes", "5000"),
                ConfigEdit(ConfigOperation.DELETE, "retention.ms", None),
                ConfigEdit(ConfigOperation.DELETE, "retention.bytes", None),
            ]
        )
        if edit.operation is ConfigOperation.SET:
            self._retained.add(name)  # from now on, also of partitions made later

        async def configure(broker: Broker) -> None:
            await broker.topics.edit_config(await broker.directory.find(name), [edit])

        await self._ask("configure", f"{name} {edit.name}={edit.value}", configure)

    async def _set_profile(self, name: str) -> None:
        edit = ConfigEdit(ConfigOperation.SET, PROFILE, self._rng.choice(list(Profile)))

        async def configure(broker: Broker) -> None:
            await broker.topics.edit_config(await broker.directory.find(name), [edit])

        await self._ask("configure", f"{name} {edit.name}={edit.value}", configure)

    # --- asking ----------------------------------------------------------------------------------

    async def _insist(self, act: str, about: str, verb: Verb, done: type[LakestreamError]) -> None:
        """Until it is done, whoever did it."""
        while True:
            try:
                await self._ask(act, about, verb)
                return
            except done:
                return
            except (LakestreamError, Disconnected):
                await asyncio.sleep(0.3)

    async def _ask(self, act: str, about: str, verb: Verb) -> Any:
        async def enter(broker: Broker) -> Awaitable[Any]:
            return verb(broker)

        connection = self._site.connect(self._rng)
        if connection is None:
            raise Disconnected
        try:
            answer = await connection.request(enter, REQUEST_SECONDS_MAX)
        except (LakestreamError, Disconnected) as error:
            self._trace.note("admin", act, about, repr(error))
            raise
        self._trace.note("admin", act, about, answer)
        return answer
