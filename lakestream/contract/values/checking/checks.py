"""Checks many values, or keys, at once against their topic's rules, before they are stored.

    id     every value begins with the id of a schema that is a version of the topic's subject
    full   ... and can be read by it, and satisfies all keywords of a JSON Schema. Values that have no ids (text, JSON
           without a schema, the latest schema of the subject) are read in either case: there is no other check.

A batch costs at most one query to the registry's store, and only if it has an id that was not seen recently.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Errors
from lakestream.contract.topic.message import ProtobufMessage
from lakestream.contract.topic.registered import RegisteredWriter, RegisteredWriters
from lakestream.contract.topic.value_config import JSON_WRITER, STRING_WRITER, PartConfig, SchemaSource, ValueFormat
from lakestream.contract.values.checking.readers import Readers
from lakestream.contract.values.checking.subject_ids import SubjectIds
from lakestream.contract.values.decoding.detecting import needed_schemas
from lakestream.contract.values.frames import UNFRAMED, schema_ids, without_frame
from lakestream.metadata.registry_store import RegistryStore
from lakestream.model.configs.value_configs import Validation
from lakestream.world.clock import Clock
from lakestream.world.threads import Threads


class Problem(NamedTuple):
    row: int
    reason: str


class ValueChecks:
    def __init__(self, *, store: RegistryStore, threads: Threads, clock: Clock) -> None:
        self._writers = RegisteredWriters(store, threads)
        self._subjects = SubjectIds(store, clock)
        self._readers = Readers(threads)

    async def problems(
        self, values: pa.BinaryArray, config: PartConfig, validation: Validation, *, are_keys: bool = False
    ) -> list[Problem]:
        """Values that must not be stored, with the reason, in order. Nulls always pass."""
        asked = _Asked(config, full=validation is Validation.FULL, are_keys=are_keys)
        rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        present = values if len(rows) == len(values) else values.take(pa.array(rows))
        if not len(present):
            return []
        if _has_ids(config):
            found = await self._framed(present, asked)
        else:
            found = await self._plain(present, asked)
        what = "key: " if are_keys else ""
        return sorted(Problem(int(rows[row]), f"{what}{reason}") for row, reason in found)

    # --- values with ids -----------------------------------------------------------------------

    async def _framed(self, values: pa.BinaryArray, asked: "_Asked") -> list[Problem]:
        ids = schema_ids(values)
        seen = set(np.unique(ids).tolist())
        known = await self._subjects.known(asked.config.subject, seen - {UNFRAMED})
        found: list[Problem] = []
        for id in sorted(seen):
            rows = np.flatnonzero(ids == id)
            if id not in known:
                found += [Problem(row, _why_unknown(id, asked)) for row in rows.tolist()]
            elif asked.full:
                found += await self._unreadable(values, rows, id, asked)
        return found

    async def _unreadable(
        self, values: pa.BinaryArray, rows: NDArray[np.int64], id: int, asked: "_Asked"
    ) -> list[Problem]:
        own = values if len(rows) == len(values) else values.take(pa.array(rows))
        place = needed_schemas(own[:1], np.array([id])).places.get(id, ())  # a producer's batch has one message type
        registered = await self._registered(id, ProtobufMessage(name=asked.config.message, place=place))
        if isinstance(registered, str):
            return [Problem(row, registered) for row in rows.tolist()]
        errors = await self._errors(without_frame(own), registered, asked)
        return [
            Problem(int(rows[row]), f"schema {id}: {reason}")
            for row, reason in zip(errors.rows, errors.reasons, strict=True)
        ]

    async def _registered(self, id: int, message: ProtobufMessage) -> RegisteredWriter | str:
        """The writer, or the reason why this schema cannot be used."""
        found = await self._writers.by_id_or_why(id, message=message)
        if isinstance(found, str):
            return f"schema {id}: {found}"
        return found if found is not None else f"schema {id} is gone from the registry"

    # --- values without ids --------------------------------------------------------------------

    async def _plain(self, values: pa.BinaryArray, asked: "_Asked") -> list[Problem]:
        registered = await self._plain_writer(asked.config)
        if isinstance(registered, str):
            return [Problem(row, registered) for row in range(len(values))]
        errors = await self._errors(values, registered, asked)
        return [Problem(row, reason) for row, reason in zip(errors.rows, errors.reasons, strict=True)]

    async def _errors(self, values: pa.BinaryArray, registered: RegisteredWriter, asked: "_Asked") -> Errors:
        return await self._readers.errors(values, registered, full=asked.full, are_keys=asked.are_keys)

    async def _plain_writer(self, config: PartConfig) -> RegisteredWriter | str:
        if config.format is ValueFormat.STRING:
            return RegisteredWriter(STRING_WRITER, ())
        if config.source in (SchemaSource.INFERRED, SchemaSource.COLUMNS):
            return RegisteredWriter(JSON_WRITER, ())
        id = await self._writers.latest_id(config.subject)
        if id is None:
            return f"the subject '{config.subject}' has no schema: register one"
        found = await self._registered(id, ProtobufMessage(name=config.message))
        if isinstance(found, str):
            return found
        return found._replace(writer=replace(found.writer, framed=False))


@dataclass(frozen=True, slots=True)
class _Asked:
    config: PartConfig
    full: bool
    are_keys: bool


def _has_ids(config: PartConfig) -> bool:
    """Whether values must have ids. Raw and undecided values must, once their topic demands checks."""
    return config.format is not ValueFormat.STRING and config.source is SchemaSource.ID


def _why_unknown(id: int, asked: _Asked) -> str:
    if id == UNFRAMED:
        what = "it" if asked.are_keys else "the value"
        return f"{what} does not begin with a zero and a schema id: use a serializer of the schema registry"
    return f"schema {id} is no version of the subject '{asked.config.subject}': register it there"
