"""Grows a contract: schemas and keys that records turned out to need become writers and columns.

If a schema cannot become columns, the contract remembers the reason, and its records are set aside. Nothing stops.
"""

from dataclasses import replace

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.json.inference import grown_by_unknown
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.topic.growing_keys import GrowingKeys, message_for
from lakestream.contract.topic.message import ProtobufMessage
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.contract.topic.topic_contract import KeyContract, Needs, TopicContract, ValueMode
from lakestream.contract.topic.value_config import JSON_WRITER, PartConfig, ValueConfig


class GrowingContracts:
    def __init__(self, writers: RegisteredWriters) -> None:
        self._writers = writers
        self._keys = GrowingKeys(writers)

    async def grown(self, contract: TopicContract, needs: Needs, config: ValueConfig) -> TopicContract:
        """The contract with everything that the needs ask for, as far as possible."""
        contract = await self._grown(contract, needs, config)
        if needs.of_keys is None or config.key is None or contract.key is None:
            return contract
        return await self._keys.grown(contract, contract.key, needs.of_keys, config.key)

    async def _grown(self, contract: TopicContract, needs: Needs, config: ValueConfig) -> TopicContract:
        if needs.detected is ValueMode.RAW:
            return replace(contract, mode=ValueMode.RAW)
        if needs.detected is ValueMode.PLAIN:
            return replace(contract, mode=ValueMode.PLAIN, writers=(JSON_WRITER,))
        for id in sorted(needs.schema_ids):
            contract = await self._with_schema(contract, id, message_for(id, contract.writers, needs, config))
        if needs.detected is ValueMode.FRAMED:
            known = bool(contract.writers or contract.unfit)  # otherwise the zeros in front were a coincidence
            return replace(contract, mode=ValueMode.FRAMED if known else ValueMode.RAW, declared=known)
        return _with_keys(contract, needs) if needs.keys else contract

    async def with_registered(self, contract: TopicContract, config: ValueConfig) -> TopicContract:
        """The contract with all schemas of its subjects, also those of which no record was seen yet: for readers of
        records that are not in the table."""
        needs = Needs()
        if contract.mode is ValueMode.FRAMED:
            known = {writer.number for writer in contract.writers} | set(contract.unfit)
            needs = Needs(schema_ids=frozenset(await self._writers.live_ids(config.subject)) - known)
        if config.key is not None and contract.key is not None and contract.key.mode is ValueMode.FRAMED:
            known = {writer.number for writer in contract.key.writers} | set(contract.key.unfit)
            of_keys = Needs(schema_ids=frozenset(await self._writers.live_ids(config.key.subject)) - known)
            needs = needs._replace(of_keys=of_keys)
        return await self.grown(contract, needs, config)

    async def following_latest(self, contract: TopicContract, config: ValueConfig) -> TopicContract:
        """For values without an id: read them with the newest schema of the subject. Raises CannotFollow with what is
        missing."""
        id = await self._writers.latest_id(config.subject)
        if id is None:
            raise CannotFollow(f"the subject '{config.subject}' has no schema: register one")
        found = await self._writers.by_id_or_why(id, message=ProtobufMessage(name=config.message))
        if found is None or isinstance(found, str):
            raise CannotFollow(f"schema {id} of the subject '{config.subject}': {found or 'it was deleted'}")
        writer = replace(found.writer, framed=False, number=id)
        layout = contract.layout.merged(found.wanted)
        return replace(contract, mode=ValueMode.PLAIN, layout=layout, writers=(writer,), declared=True)

    async def with_latest_keys(self, contract: TopicContract, key: KeyContract, config: PartConfig) -> TopicContract:
        """`following_latest` for keys."""
        return await self._keys.following_latest(contract, key, config)

    async def _with_schema(self, contract: TopicContract, id: int, message: ProtobufMessage) -> TopicContract:
        found = await self._writers.by_id_or_why(id, message=message)
        if found is None:
            return contract  # it may be registered later; until then its records are set aside
        if isinstance(found, str):
            return replace(contract, unfit={**contract.unfit, id: found})
        try:
            layout = contract.layout.merged(found.wanted)
        except CannotFollow as error:
            return replace(contract, unfit={**contract.unfit, id: str(error)})
        return replace(contract, layout=layout, writers=_in_order(contract.writers, found.writer))


def _in_order(writers: tuple[Writer, ...], met: Writer) -> tuple[Writer, ...]:
    """The last writer is the one that inserted rows are written by. A schema that was registered before it and met
    later does not take its place."""
    last = writers[-1:]
    return (*writers[:-1], met, *last) if last and met.number < last[0].number else (*writers, met)


def _with_keys(contract: TopicContract, needs: Needs) -> TopicContract:
    try:
        return replace(contract, layout=grown_by_unknown(needs.keys, contract.layout))
    except CannotFollow:
        return contract  # the table has its maximum of columns: such rows keep their bytes
