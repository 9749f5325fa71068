"""Whether values are what their topic takes: asked before they are stored, of many at once.

    id     every value begins with the id of a schema that is a version of the topic's subject
    full   ... and can be read by it. Values that have no ids (text, JSON without a schema, the latest schema of the
           subject) are read in either case: nothing else could tell.

A batch costs at most one look into the registry's store, and only if it has an id that was not seen of late.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Codec, Errors
from lakestream.contract.columns.layout import Layout
from lakestream.contract.values.binding import bind
from lakestream.contract.values.detecting import needed_schemas
from lakestream.contract.values.frames import UNFRAMED, schema_ids, without_frame
from lakestream.contract.values.message import Message
from lakestream.contract.values.registered import RegisteredWriter, RegisteredWriters
from lakestream.contract.values.subject_ids import SubjectIds
from lakestream.contract.values.value_config import JSON_WRITER, STRING_WRITER, SchemaSource, ValueConfig, ValueFormat
from lakestream.metadata.registry_store import RegistryStore
from lakestream.model.value_configs import Validation
from lakestream.world.clock import Clock
from lakestream.world.threads import Threads

INLINE_BYTES_MAX = 64 * 1024
"""What is read on the spot; more goes to a thread."""
CODECS_KEPT_MAX = 64
SHAPES_KEPT_MAX = 1_000
"""Of a JSON codec that is used again: it remembers every shape that it has met."""


class Problem(NamedTuple):
    row: int
    reason: str


class ValueChecks:
    def __init__(self, *, store: RegistryStore, threads: Threads, clock: Clock) -> None:
        self._writers = RegisteredWriters(store, threads)
        self._subjects = SubjectIds(store, clock)
        self._threads = threads
        self._idle: dict[tuple[int, str, str], list[Codec]] = {}

    async def problems(self, values: pa.BinaryArray, config: ValueConfig, validation: Validation) -> list[Problem]:
        """Values that must not be stored, and why; in the order in which they stand. Nulls are always welcome."""
        rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        present = values if len(rows) == len(values) else values.take(pa.array(rows))
        if not len(present):
            return []
        if _has_ids(config):
            found = await self._framed(present, config, validation)
        else:
            found = await self._plain(present, config)
        return sorted(Problem(int(rows[row]), reason) for row, reason in found)

    # --- values with ids -----------------------------------------------------------------------

    async def _framed(self, values: pa.BinaryArray, config: ValueConfig, validation: Validation) -> list[Problem]:
        ids = schema_ids(values)
        seen = set(np.unique(ids).tolist())
        known = await self._subjects.known(config.subject, seen - {UNFRAMED})
        found: list[Problem] = []
        for id in sorted(seen):
            rows = np.flatnonzero(ids == id)
            if id not in known:
                found += [Problem(row, _why_unknown(id, config.subject)) for row in rows.tolist()]
            elif validation is Validation.FULL:
                found += await self._unreadable(values, rows, id, config)
        return found

    async def _unreadable(
        self, values: pa.BinaryArray, rows: NDArray[np.int64], id: int, config: ValueConfig
    ) -> list[Problem]:
        own = values if len(rows) == len(values) else values.take(pa.array(rows))
        place = needed_schemas(own[:1], np.array([id])).places.get(id, ())  # a producer's batch is of one message
        registered = await self._registered(id, Message(name=config.message, place=place))
        if isinstance(registered, str):
            return [Problem(row, registered) for row in rows.tolist()]
        errors = await self._read(without_frame(own), registered)
        return [
            Problem(int(rows[row]), f"schema {id}: {reason}")
            for row, reason in zip(errors.rows, errors.reasons, strict=True)
        ]

    async def _registered(self, id: int, message: Message) -> RegisteredWriter | str:
        """Or why there is no reading by this schema."""
        found = await self._writers.by_id_or_why(id, message=message)
        if isinstance(found, str):
            return f"schema {id}: {found}"
        return found if found is not None else f"schema {id} is gone from the registry"

    # --- values without ids --------------------------------------------------------------------

    async def _plain(self, values: pa.BinaryArray, config: ValueConfig) -> list[Problem]:
        registered = await self._plain_writer(config)
        if isinstance(registered, str):
            return [Problem(row, registered) for row in range(len(values))]
        errors = await self._read(values, registered)
        return [Problem(row, reason) for row, reason in zip(errors.rows, errors.reasons, strict=True)]

    async def _plain_writer(self, config: ValueConfig) -> RegisteredWriter | str:
        if config.format is ValueFormat.STRING:
            return RegisteredWriter(STRING_WRITER, ())
        if config.source is SchemaSource.INFERRED:
            return RegisteredWriter(JSON_WRITER, ())
        id = await self._writers.latest_id(config.subject)
        if id is None:
            return f"the subject '{config.subject}' has no schema: register one"
        found = await self._registered(id, Message(name=config.message))
        if isinstance(found, str):
            return found
        return found._replace(writer=replace(found.writer, framed=False))

    # --- reading -------------------------------------------------------------------------------

    async def _read(self, values: pa.BinaryArray, registered: RegisteredWriter) -> Errors:
        """A codec serves one at a time, so it is not among the idle ones while it works. Its first work is done in a
        thread, whatever its size: making it ready may take long."""
        writer = registered.writer
        place = writer.number, f"{writer.format} {writer.framed}", writer.message
        idle = self._idle.get(place)
        if not idle:
            codec, errors = await self._threads.run(_bound_and_read, registered, values)
        else:
            codec = idle.pop()
            inline = values.nbytes <= INLINE_BYTES_MAX
            errors = (codec.decode(values) if inline else await self._threads.run(codec.decode, values)).errors
        if len(codec.shapes) <= SHAPES_KEPT_MAX:
            self._keep(place, codec)
        return errors

    def _keep(self, place: tuple[int, str, str], codec: Codec) -> None:
        if sum(map(len, self._idle.values())) >= CODECS_KEPT_MAX:
            self._idle.clear()
        self._idle.setdefault(place, []).append(codec)


def _has_ids(config: ValueConfig) -> bool:
    """Raw values, and those that are not told yet, have ids once someone demands that they are checked."""
    return config.format is not ValueFormat.STRING and config.source is SchemaSource.ID


def _bound_and_read(registered: RegisteredWriter, values: pa.BinaryArray) -> tuple[Codec, Errors]:
    codec = bind(registered.writer, Layout().merged(registered.wanted), declared=True)
    return codec, codec.decode(values).errors


def _why_unknown(id: int, subject: str) -> str:
    if id == UNFRAMED:
        return "the value does not begin with a zero and a schema id: use a serializer of the schema registry"
    return f"schema {id} is no version of the subject '{subject}': register it there"
