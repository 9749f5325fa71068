"""Grows the keys' part of a contract: schemas that keys turned out to need become writers and columns.

If a schema cannot become columns, the contract remembers the reason; its keys are in the table as bytes only.
"""

from collections.abc import Sequence
from dataclasses import replace

from lakestream.contract.codecs.codec import Writer
from lakestream.contract.codecs.json.inference import wanted_from_unknown
from lakestream.contract.columns.from_avro import ROOT_KEY
from lakestream.contract.columns.layout import CannotFollow, Layout
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.topic.key_columns import key_fields, wanted_of_json_keys, wanted_of_keys, wanted_whole
from lakestream.contract.topic.message import ProtobufMessage
from lakestream.contract.topic.registered import RegisteredWriter, RegisteredWriters
from lakestream.contract.topic.topic_contract import KeyContract, Needs, TopicContract, ValueMode
from lakestream.contract.topic.value_config import JSON_WRITER, PartConfig


class GrowingKeys:
    def __init__(self, writers: RegisteredWriters) -> None:
        self._writers = writers

    async def grown(self, contract: TopicContract, key: KeyContract, needs: Needs, config: PartConfig) -> TopicContract:
        """The contract with everything that the needs of keys ask for, as far as possible."""
        if needs.detected is ValueMode.RAW:
            return replace(contract, key=replace(key, mode=ValueMode.RAW))
        if needs.detected is ValueMode.PLAIN:
            return replace(contract, key=replace(key, mode=ValueMode.PLAIN, writers=(JSON_WRITER,)))
        for id in sorted(needs.schema_ids):
            message = message_for(id, key.writers, needs, config)
            contract, key = await self._with_schema(contract, key, id, message)
        if needs.detected is ValueMode.FRAMED:
            known = bool(key.writers or key.unfit)  # otherwise the zeros in front were a coincidence
            key = replace(key, mode=ValueMode.FRAMED if known else ValueMode.RAW, declared=known)
        contract = replace(contract, key=key)
        contract = _with_fields(contract, needs) if needs.keys else contract
        return _with_single(contract, needs.single) if needs.single else contract

    async def following_latest(self, contract: TopicContract, key: KeyContract, config: PartConfig) -> TopicContract:
        """For keys without an id: read them with the newest schema of the subject. Raises CannotFollow with what is
        missing."""
        id = await self._writers.latest_id(config.subject)
        if id is None:
            raise CannotFollow(f"the subject '{config.subject}' has no schema: register one")
        found = await self._writers.by_id_or_why(id, message=ProtobufMessage(name=config.message))
        if found is None or isinstance(found, str):
            raise CannotFollow(f"schema {id} of the subject '{config.subject}': {found or 'it was deleted'}")
        writer = replace(found.writer, framed=False)
        layout = contract.layout.merged_keys(_wanted_by(found))
        key = replace(key, mode=ValueMode.PLAIN, writers=(writer,), declared=True)
        return replace(contract, layout=layout, key=key)

    async def _with_schema(
        self, contract: TopicContract, key: KeyContract, id: int, message: ProtobufMessage
    ) -> tuple[TopicContract, KeyContract]:
        found = await self._writers.by_id_or_why(id, message=message)
        if found is None:
            return contract, key  # it may be registered later
        if isinstance(found, str):
            return contract, replace(key, unfit={**key.unfit, id: found})
        try:
            layout = contract.layout.merged_keys(_wanted_by(found))
        except CannotFollow as error:
            return contract, replace(key, unfit={**key.unfit, id: str(error)})
        return replace(contract, layout=layout), replace(key, writers=(*key.writers, found.writer))


def message_for(id: int, writers: Sequence[Writer], needs: Needs, config: PartConfig) -> ProtobufMessage:
    """The message of a schema to be read: from the configs, from earlier schemas, or from its values."""
    usual = next((writer.message for writer in writers if writer.message), "")
    return ProtobufMessage(name=config.message, usual=usual, place=needs.places.get(id, ()))


def _wanted_by(found: RegisteredWriter) -> tuple[Wanted, ...]:
    if found.json_schema is not None:
        return wanted_of_json_keys(found.json_schema, found.wanted)
    return wanted_of_keys(found.writer, found.wanted)


def _with_fields(contract: TopicContract, needs: Needs) -> TopicContract:
    wanted = wanted_from_unknown(needs.keys, key_fields(contract.layout))
    try:
        return replace(contract, layout=contract.layout.merged_keys(wanted_of_keys(JSON_WRITER, wanted)))
    except CannotFollow:
        return contract  # the table has its maximum of columns


def _with_single(contract: TopicContract, found: str) -> TopicContract:
    wanted = wanted_whole(wanted_from_unknown({ROOT_KEY: found}, Layout()))
    try:
        return replace(contract, layout=contract.layout.merged_keys(wanted))
    except CannotFollow:
        return contract  # it has such a column, of another kind
