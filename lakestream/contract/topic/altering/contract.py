"""The next version of a contract whose columns SQL declares, after an ALTER TABLE.

    fields before and after -> columns -> for JSON, that is all
                                       -> the newest schema, edited -> judged by the registry -> its writer

Nothing is stored here: the version is registered in the transaction that moves the table's pointer, so that neither is
ever there without the other. The id of its schema is foreseen, and the transaction fails if it would be another.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from lakestream.contract.columns.column import Column, live
from lakestream.contract.columns.for_json import check_json_columns
from lakestream.contract.columns.layout import CannotFollow, Layout
from lakestream.contract.registry.registry import Registry
from lakestream.contract.registry.resolving import References
from lakestream.contract.registry.submitted import Submitted, parsed_body
from lakestream.contract.topic.altering.avro_schema import altered_avro, with_names_as_keys
from lakestream.contract.topic.altering.columns import altered_columns
from lakestream.contract.topic.altering.protobuf_schema import altered_protobuf
from lakestream.contract.topic.message import ProtobufMessage
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.contract.topic.topic_contract import TopicContract, ValueMode
from lakestream.contract.topic.value_config import ValueConfig, ValueFormat
from lakestream.metadata.registry_store import RegistryStore
from lakestream.model.registry import ForeseenVersion, NewVersion, SchemaBody, SchemaFormat
from lakestream.model.registry_errors import IncompatibleSchema, NotPermitted
from lakestream.world.threads import Threads

Json = dict[str, Any]


class Alteration(NamedTuple):
    contract: TopicContract
    registered: ForeseenVersion | None = None
    """The version to register with it."""


class _Edited(NamedTuple):
    columns: tuple[Column, ...]
    text: str


class AlteringContracts:
    def __init__(
        self, *, store: RegistryStore, registry: Registry, writers: RegisteredWriters, threads: Threads
    ) -> None:
        self._store = store
        self._registry = registry
        self._writers = writers
        self._references = References(store)
        self._threads = threads

    async def altered(
        self, contract: TopicContract, config: ValueConfig, before: Sequence[Json], after: Sequence[Json]
    ) -> Alteration:
        """`before` and `after`: the table's fields of values. Raises CannotFollow, and errors of the registry."""
        if config.format is ValueFormat.JSON and contract.mode is ValueMode.PLAIN:
            columns = with_names_as_keys(altered_columns(contract.layout.columns, before, after, by_name=True))
            check_json_columns(live(columns))
            return Alteration(replace(contract, layout=contract.layout.with_columns(columns)))
        if config.format not in (ValueFormat.AVRO, ValueFormat.PROTOBUF) or contract.mode is not ValueMode.FRAMED:
            raise CannotFollow(f"columns of values of the format '{config.format}' follow the values, not ALTER TABLE")
        return await self._with_schema(contract, config, before, after)

    async def _with_schema(
        self, contract: TopicContract, config: ValueConfig, before: Sequence[Json], after: Sequence[Json]
    ) -> Alteration:
        id = await self._newest(contract, config)
        message = ProtobufMessage(name=config.message, usual=contract.writers[-1].message if contract.writers else "")
        newest = await self._writers.by_id(id, message=message)
        stored = (await self._store.schemas([id])).get(id)
        if newest is None or stored is None:
            raise CannotFollow(f"schema {id} of the subject '{config.subject}' was deleted: register one")
        layout = contract.layout.merged(newest.wanted)
        edited = await self._edited(stored.body, newest.writer.message, layout, before, after)
        layout = layout.with_columns(edited.columns)
        if layout == contract.layout:
            return Alteration(contract)
        submitted = Submitted(format=stored.body.format, text=edited.text, references=stored.body.references)
        return await self._registered(replace(contract, layout=layout), config, submitted, message)

    async def _newest(self, contract: TopicContract, config: ValueConfig) -> int:
        """The id of the schema to edit: the subject's newest, unless the contract has left that behind."""
        latest = await self._writers.latest_id(config.subject)
        known = {*(writer.number for writer in contract.writers), *contract.unfit}
        if latest is not None and latest not in known:
            return latest
        if not contract.writers:
            raise CannotFollow(f"the subject '{config.subject}' has no schema: register one")
        return contract.writers[-1].number

    async def _edited(
        self, body: SchemaBody, message: str, layout: Layout, before: Sequence[Json], after: Sequence[Json]
    ) -> _Edited:
        if body.format is SchemaFormat.AVRO:
            columns = with_names_as_keys(altered_columns(layout.columns, before, after, by_name=True))
            return _Edited(columns, altered_avro(body.text, layout.columns, columns))
        if body.format is not SchemaFormat.PROTOBUF:
            raise CannotFollow("the newest schema of the topic's values is a JSON Schema: register its next version")
        numbered = altered_columns(layout.columns, before, after, by_name=False)
        referred = await self._references.referred(body.references, body.format)
        parsed = await self._threads.run(partial(parsed_body, body, referred))
        made = await self._threads.run(partial(altered_protobuf, parsed, message, layout.columns, numbered))
        return _Edited(made.columns, made.text)

    async def _registered(
        self, contract: TopicContract, config: ValueConfig, submitted: Submitted, message: ProtobufMessage
    ) -> Alteration:
        try:
            judged = await self._registry.judged(config.subject, submitted)
        except IncompatibleSchema as error:
            raise CannotFollow(_refusal(config.subject, error.reasons)) from None
        except NotPermitted as error:
            raise CannotFollow(
                f"{error}. Whoever may change its mode can allow it, in the registry: PUT /mode/{config.subject}"
            ) from None
        if isinstance(judged, NewVersion):
            known = await self._store.schema_by_guid(judged.body.guid)
            id = await self._store.schema_id_max() + 1 if known is None else known.id
            made, foreseen = await self._writers.made(id, judged.body, message=message), ForeseenVersion(judged, id)
        else:
            id, foreseen = judged.schema.id, None
            made = await self._writers.made(id, judged.schema.body, message=message)
        if contract.layout.merged(made.wanted) != contract.layout:
            raise CannotFollow(
                "the schema of the topic's values uses one type in several places, and the change would be one to "
                "other columns, too: register the schema's next version, and the table follows"
            )
        writers = (*(writer for writer in contract.writers if writer.number != id), made.writer)
        unfit = {number: reason for number, reason in contract.unfit.items() if number != id}
        return Alteration(replace(contract, writers=writers, unfit=unfit), foreseen)


def _refusal(subject: str, reasons: Sequence[str]) -> str:
    if any(reason.startswith("TABLE_CANNOT_FOLLOW") for reason in reasons):
        advice = "add a column of another name instead"
    else:
        advice = (
            "add another column instead; or whoever may change the subject's level can allow it: `lakestream schema "
            f"config {subject} --level NONE`"
        )
    why = "; ".join(reasons)
    return f"the schema of the topic's values, subject '{subject}', does not allow it: {why}. What to do: {advice}"
