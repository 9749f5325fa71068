"""A contract that grows: schemas and keys that records turned out to need become writers and columns.

What cannot become columns is remembered with its reason and stops nothing: those records are set aside.
"""

from dataclasses import replace

from lakestream.contract.codecs.json.inference import wanted_from_unknown
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.values.registered import RegisteredWriter, RegisteredWriters
from lakestream.contract.values.topic_contract import Needs, TopicContract, ValueMode
from lakestream.contract.values.value_config import JSON_WRITER, ValueConfig
from lakestream.model.errors import Exhausted, Invalid


class GrowingContracts:
    def __init__(self, writers: RegisteredWriters) -> None:
        self._writers = writers

    async def grown(self, contract: TopicContract, needs: Needs, config: ValueConfig) -> TopicContract:
        """With all that the needs ask for, as far as it can be had."""
        if needs.detected is ValueMode.RAW:
            return replace(contract, mode=ValueMode.RAW)
        if needs.detected is ValueMode.PLAIN:
            return replace(contract, mode=ValueMode.PLAIN, writers=(JSON_WRITER,))
        for id in sorted(needs.schema_ids):
            contract = await self._with_schema(contract, id, config)
        if needs.detected is ValueMode.FRAMED:
            known = bool(contract.writers or contract.unfit)  # else zeros stood in front by chance
            return replace(contract, mode=ValueMode.FRAMED if known else ValueMode.RAW, declared=known)
        return _with_keys(contract, needs) if needs.keys else contract

    async def following_latest(self, contract: TopicContract, config: ValueConfig) -> TopicContract:
        """For values without an id: read by the newest schema of the subject. Raises CannotFollow, saying what is
        missing."""
        id = await self._writers.latest_id(config.subject)
        if id is None:
            raise CannotFollow(f"the subject '{config.subject}' has no schema: register one")
        found = await self._registered(id, config)
        if found is None or isinstance(found, str):
            raise CannotFollow(f"schema {id} of the subject '{config.subject}': {found or 'it was deleted'}")
        writer = replace(found.writer, framed=False, number=id)
        layout = contract.layout.merged(found.wanted)
        return replace(contract, mode=ValueMode.PLAIN, layout=layout, writers=(writer,), declared=True)

    async def _with_schema(self, contract: TopicContract, id: int, config: ValueConfig) -> TopicContract:
        found = await self._registered(id, config)
        if found is None:
            return contract  # it may be registered yet; until then its records are set aside
        if isinstance(found, str):
            return replace(contract, unfit={**contract.unfit, id: found})
        try:
            layout = contract.layout.merged(found.wanted)
        except CannotFollow as error:
            return replace(contract, unfit={**contract.unfit, id: str(error)})
        return replace(contract, layout=layout, writers=(*contract.writers, found.writer))

    async def _registered(self, id: int, config: ValueConfig) -> RegisteredWriter | str | None:
        """The writer, or why there cannot be one; None: there is no such schema."""
        try:
            return await self._writers.by_id(id, message=config.message)
        except (ValueError, Invalid, Exhausted) as error:
            return str(error)


def _with_keys(contract: TopicContract, needs: Needs) -> TopicContract:
    wanted = wanted_from_unknown(needs.keys, contract.layout)
    try:
        return replace(contract, layout=contract.layout.merged(wanted))
    except CannotFollow:
        return contract  # the table has as many columns as it can: such rows keep their bytes
